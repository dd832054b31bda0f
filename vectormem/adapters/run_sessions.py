"""The sessions that runs go on in, where only the session itself is told which run that is."""

import weakref

_sessions: "weakref.WeakKeyDictionary[object, str]" = weakref.WeakKeyDictionary()


def note_session(shown: object | None, session_id: str | None) -> None:
    """Remember the session of a run by the object that is shown of it, while that is there; None: it has no session."""
    if shown is not None and session_id is not None:
        _sessions[shown] = session_id
    elif shown is not None:
        _sessions.pop(shown, None)


def session_of(shown: object) -> str | None:
    """Return the id of the session that a run goes on in, as far as it is known."""
    return _sessions.get(shown)
