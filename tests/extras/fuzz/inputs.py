"""What the fuzzer's bytes are made into: texts, JSON of any shape, arguments that nearly fit, exports."""


def text_of(data):
    return data.decode("utf-8", "ignore")


def fitting(provider, arguments, schema):
    """Return the arguments, now and then under the names that the schema has."""
    names = list(schema["properties"])
    if provider.ConsumeBool():
        return {names[position % len(names)]: value for position, value in enumerate(arguments.values())}
    return arguments


def mapping(provider, depth):
    return {word(provider): json_value(provider, depth) for _ in range(provider.ConsumeIntInRange(0, 4))}


def json_value(provider, depth):
    kind = provider.ConsumeIntInRange(0, 8 if depth else 5)
    if kind > 6:
        return mapping(provider, depth - 1)
    if kind == 6:
        return [json_value(provider, depth - 1) for _ in range(provider.ConsumeIntInRange(0, 4))]
    makers = (
        lambda: None,
        provider.ConsumeBool,
        lambda: provider.ConsumeInt(10),
        provider.ConsumeFloat,
        lambda: provider.ConsumeUnicode(20),
        lambda: word(provider),
    )
    return makers[kind]()


_NAMES = """
id text key items version created_at metadata copied query limit topic value mapping chat_messages uuid sender
human user assistant author role message content content_type parts current_node parent children create_time
conversation_id title name type session_id 2026-01-01T00:00:00Z 0001-01-01T00:00:00+01:00 k
""".split()  # noqa: SIM905


def word(provider):
    return provider.PickValueInList(_NAMES) if provider.ConsumeBool() else provider.ConsumeUnicode(8)


def export(provider):
    """Return something like an export, in which any value may be any other."""

    def some(usual):
        return json_value(provider, 2) if provider.ConsumeIntInRange(0, 9) == 0 else usual

    content = {"content_type": some("text"), "parts": some(["a tea", some("b")])}
    node = {
        "message": some({"author": some({"role": some("user")}), "content": some(content), "create_time": some(1.5)})
    }
    chatgpt = {
        "id": some("c"),
        "current_node": some("n"),
        "mapping": some({"n": some({**node, "parent": some("r")}), "r": some({})}),
    }
    said = {"uuid": some("m"), "sender": some("human"), "text": some("tea"), "created_at": some("2026-01-01T00:00:00Z")}
    claude = {"uuid": some("c"), "chat_messages": some([some({**said, "content": some([some({"type": "text"})])})])}
    return [some(chatgpt), some(claude)]
