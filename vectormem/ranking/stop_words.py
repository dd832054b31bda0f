"""Words that say how a sentence is built, not what it is about. A query is not looked up by them.

Words that mean something in another of these languages ("die", "war", "man", "can") are left out.
"""

from itertools import chain

_BY_LANGUAGE = {
    "en": """
        a about after again all am an and any are as at be because been before being below between both but by
        could did do does doing don down during each few for from further had has have having he her here hers herself
        him himself his how i if in into is isn it its itself just ll m me more most my myself no nor not now of off
        on once only or other our ours ourselves out over own re s same she should so some such t than that the their
        theirs them themselves then there these they this those through to too under until up ve very was we were
        what when where which while who whom whose why will with would you your yours yourself yourselves
    """,
    "de": """
        aber als am auch auf aus bei bin bis bist da damals dann das dass dein deine dem den denn der des dessen dich
        dir doch dort du durch ein eine einem einen einer eines er es euer für gegen haben hatte hatten ich ihm ihn
        ihr ihre im ins ist ja jede jeder kann kein keine können mein meine mich mir mit nach nicht noch nur ob oder
        ohne sehr seid sein seine seit sich sie sind soll über um und uns unser vom von vor wann warum was weil welche
        welchem welchen welcher welches wem wen wenn wer werden wessen wie wieso wieviel wird wo woher wohin wurde
        wurden zu zum zur zwischen
    """,
    "tr": """
        acaba ama bana ben beni benim bir biri birkaç biz bu bunu bunun da daha de defa değil dolayı en fakat gibi
        hangi hangisi hem hep hiç için ile ise kaç kadar ki kim kime kimin mi mu mı mü nasıl ne neden nedir nere
        nerede nereye niçin niye o olan olarak oldu onlar onu onun ya sen senin şey siz şu tarafından ve veya yani
    """,
    "ar": """
        أن أو أي أين إذا إلى إن التي الذي الذين الى ان او اي اين بعد بين تكون تم ثم حيث عن على عند عندما فإن فقد في
        فيها فيه قبل قد كان كانت كل كم كيف لا لكن لم لماذا لها له ليس ما ماذا متى مع من منذ منها منه هذا هذه هل هم هناك
        هو هي و وقد ولا وهو وهي
    """,
    "zh": """
        什么 什麼 怎么 怎麼 怎样 怎樣 哪里 哪裡 哪个 哪個 哪些 多少 是谁 是誰 如何 为何 為何 为什 為什 么时 麼時 是什
        是在 在哪 了什 的什 是多
    """,
    "es": """
        al cuál cuándo cuántos cuánto cómo del dónde el ella en era es esta este fue la las los lo más por qué que quién
        se su sus un una y
    """,
    "fr": """
        au aux avec ce ces cette comment dans des du elle est et il ils je la le les leur lui mais ne nous où par pas
        pour quand que quel quelle qui sa sera ses sont sur une vous
    """,
}

STOP_WORDS = frozenset(chain.from_iterable(words.split() for words in _BY_LANGUAGE.values()))
