"""What the model is told of each end of a question, and of each reason for one: by the values of Answer and Cause.

Pure module: a table.
"""

_WAY_OUT = 'the person can let it run without a question: add "{route}" to policy.allow in config.toml'
WORDS: dict[str, str] = {
    "declined": "the person at the desk refused this call{why}; nothing ran. Do not try to get it done another "
    "way; ask them in the conversation what they want instead",
    "cancelled": "the person at the desk dismissed the question without deciding{why}; nothing ran. Go on "
    "without it, or ask them in the conversation whether they want it",
    "timed_out": "nobody answered within {seconds} s{why}; nothing ran. Silence is ambiguous: the person may be "
    "away, or may not want it. Ask them in the conversation before you call it another time",
    "unsupported": "nobody can be asked on this desktop{why}; nothing ran. Tell the person; " + _WAY_OUT,
    "unreachable": "the question did not reach the person at the desk, so nobody decided{why}; nothing ran. Tell "
    "the person in the conversation; " + _WAY_OUT,
    "withdrawn": "the question was withdrawn before anybody answered{why}; nothing ran. Do not count it as a "
    "refusal; go on with something else unless the person tells you to take it up anew",
    "not_asked_again": "the person at the desk is not asked about it {span}{why}; nothing ran. Leave "
    "it, and go on with something else; if it matters, bring it up in the conversation",
}
CAUSES: dict[str, str] = {
    "client_gone": "the client that asked has disconnected",
    "client_cancelled": "the client cancelled the call",
    "asker_gone": "the server that asked has ended",
    "stopped": "the server was stopped",
    "frozen": "the person paused everything agents do",
    "policy_changed": "the policy changed and does not let it be asked any more",
    "command_changed": "the command changed while the question was open",
    "no_server": "nothing shows notifications",
    "no_actions": "what shows notifications here takes no answers",
    "silenced": "notifications are silenced",
    "server_gone": "what showed it has ended",
    "refused_before": "it was asked a while ago and not approved",
    "too_often": "this client has asked too many questions in a short time",
    "another_open": "another question of this client is still open",
    "one_run": "they approved one run, and the same call made before this one has it",
    "too_many_open": "too many questions are open",
    "in_client": "in the form their client showed",
}
