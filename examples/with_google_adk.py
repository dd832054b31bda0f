"""An ADK agent that remembers its user, and finds what was said in earlier sessions. Offline: the model is a script.

pip install 'vectormem[google-adk]' && python examples/with_google_adk.py
"""
# ruff: noqa: D103

import asyncio

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_memory
from google.genai.types import Content, FunctionCall, Part

from embedders import HashEmbedder
from vectormem import ChatStorage, InMemoryMemory, SqliteStore, define_memory
from vectormem.adapters.google_adk import SlotPlugin
from vectormem.adapters.google_adk_service import ChatMemoryService

TURNS = [
    Part(function_call=FunctionCall(name="remember_facts", args={"text": "Ada is vegetarian"})),
    Part(text="I will remember that."),
    Part(function_call=FunctionCall(name="load_memory", args={"query": "vegetarian"})),
    Part(text="A mushroom risotto?"),
]


class Script(BaseLlm):
    """In place of a model such as Gemini."""

    async def generate_content_async(self, llm_request, stream=False):
        print("memory:", llm_request.config.system_instruction.partition("<memory")[1:])
        yield LlmResponse(content=Content(role="model", parts=[TURNS.pop(0)]))


async def main():
    store = SqliteStore(":memory:")

    def chats(context):
        return ChatStorage(store, embedder=HashEmbedder(), scope_key=f"user:{context.principal}")

    facts = define_memory(name="facts", scope=lambda context: f"user:{context.principal}", provider=InMemoryMemory())
    agent = LlmAgent(name="cook", model=Script(model="script"), instruction="You plan dinners.", tools=[load_memory])
    sessions, service = InMemorySessionService(), ChatMemoryService(chats)
    app = App(name="dinners", root_agent=agent, plugins=[SlotPlugin([facts])])
    runner = Runner(app=app, session_service=sessions, memory_service=service)
    for text in ("I am vegetarian", "What shall I cook?"):
        session = await sessions.create_session(app_name="dinners", user_id="ada")
        message = Content(role="user", parts=[Part(text=text)])
        async for event in runner.run_async(user_id="ada", session_id=session.id, new_message=message):
            if event.is_final_response():
                print("answer:", event.content.parts[0].text)
        said = await sessions.get_session(app_name="dinners", user_id="ada", session_id=session.id)
        await service.add_session_to_memory(said)


if __name__ == "__main__":
    asyncio.run(main())
