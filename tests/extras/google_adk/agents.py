"""Agents of ADK and their runs."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, Part

from tests.extras.memories import INSTRUCTIONS


def runner_of(model, *plugins, memory_service=None, instruction=INSTRUCTIONS, tools=()):
    agent = LlmAgent(name="helper", model=model, instruction=instruction, tools=list(tools))
    return Runner(
        app=App(name="tea", root_agent=agent, plugins=list(plugins)),
        session_service=InMemorySessionService(),
        memory_service=memory_service,
    )


async def send(runner, text, *, user="ada", session="s1"):
    """Run the agent on one message; return the texts of the events."""
    if await runner.session_service.get_session(app_name="tea", user_id=user, session_id=session) is None:
        await runner.session_service.create_session(app_name="tea", user_id=user, session_id=session)
    message = Content(role="user", parts=[Part(text=text)])
    events = [event async for event in runner.run_async(user_id=user, session_id=session, new_message=message)]
    return [part.text for event in events if event.content for part in event.content.parts if part.text]


def run(runner, text, **options):
    return asyncio.run(send(runner, text, **options))


def stored_session(runner, *, user="ada", session="s1"):
    return asyncio.run(runner.session_service.get_session(app_name="tea", user_id=user, session_id=session))
