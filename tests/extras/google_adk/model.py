"""A model as the framework wants its own: it says what a script says, and keeps its requests."""

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.genai.types import Content, FunctionCall, Part
from pydantic import PrivateAttr


class ScriptedLlm(BaseLlm):
    """A turn is a text, or `(tool name, arguments)`."""

    _turns: list = PrivateAttr()
    _requests: list = PrivateAttr(default_factory=list)

    def __init__(self, *turns):
        super().__init__(model="scripted")
        self._turns = list(turns)

    @property
    def requests(self):
        return self._requests

    async def generate_content_async(self, llm_request, stream=False):
        self._requests.append(Request(llm_request))
        turn = self._turns.pop(0)
        part = (
            Part(text=turn) if isinstance(turn, str) else Part(function_call=FunctionCall(name=turn[0], args=turn[1]))
        )
        yield LlmResponse(content=Content(role="model", parts=[part]))


class Request:
    def __init__(self, request):
        declared = [one for tool in request.config.tools or [] for one in tool.function_declarations]
        parts = [(content.role, part) for content in request.contents for part in content.parts]
        self.instructions = request.config.system_instruction
        self.tools = {one.name: one.parameters_json_schema for one in declared}
        self.messages = [(role, part.text) for role, part in parts if part.text]
        self.results = [part.function_response.response for _, part in parts if part.function_response]
