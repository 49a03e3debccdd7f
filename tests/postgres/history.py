"""The event log of a fleet, kept by triggers in the database, and its checker: nothing is inferred from counters.

Each change of a verdict, a task's lease, a job's state or a delivery's state is a line, written in the transaction
that makes the change."""
import collections

WATCHED = {"verdicts": ("task", "verdict"), "tasks": ("id", "token"), "jobs": ("n", "state"),
           "deliveries": ("id", "state")}
SCRIPT = """
CREATE TABLE history (n bigserial PRIMARY KEY, tx text, of text, id text, before text, after text);
CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
BEGIN
    IF TG_OP <> 'UPDATE' OR old_row ->> TG_ARGV[1] IS DISTINCT FROM new_row ->> TG_ARGV[1] THEN
        INSERT INTO history (tx, of, id, before, after) VALUES (pg_current_xact_id()::text,
            TG_TABLE_NAME || ' ' || TG_OP, coalesce(new_row, old_row) ->> TG_ARGV[0],
            old_row ->> TG_ARGV[1], new_row ->> TG_ARGV[1]);
    END IF;
    RETURN NULL;
END $$;
"""
NEXT = {"queued": {"planning", "cancelled", "failed"}, "planning": {"queued", "solving", "done", "failed", "cancelled"},
        "solving": {"done", "failed", "cancelled"}, "done": set(), "failed": set(), "cancelled": set()}


def triggers():
    return SCRIPT + "".join(
        f"CREATE TRIGGER remember AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH ROW "
        f"EXECUTE FUNCTION remember('{key}', '{value}');\n" for table, (key, value) in WATCHED.items())


Event = collections.namedtuple("Event", "n tx of id before after")


def read(psql, address):
    rows = psql(address, "SELECT n, tx, of, id, coalesce(before, ''), coalesce(after, '') FROM history ORDER BY n")
    return [Event(*row.split("|")) for row in rows.splitlines()]


def wrong(events, begun):
    """The first thing that must not be, or None. begun: how often workers began each task (by its id)."""
    lists = collections.defaultdict(list)
    for event in events:
        lists[(event.of.split()[0], event.id)].append(event)
    for (table, _), list_of in lists.items():
        found = CHECKS[table](list_of, lists, begun)
        if found:
            return found
    return None


def check_verdict(list_of, lists, _):
    first = list_of[0]
    if not first.id:
        return None  # the plan's own
    if len(list_of) > 1 or first.of != "verdicts INSERT":
        return f"task {first.id}: its verdict changed: {list_of}"
    ends = [event for event in lists[("tasks", first.id)] if event.of == "tasks DELETE"]
    if len(ends) != 1 or ends[0].tx != first.tx:
        return f"task {first.id}: its verdict and its end are not one transaction"
    return None


def check_task(list_of, lists, begun):
    grants, ended = 0, False
    for event in list_of:
        if ended:
            return f"task {event.id} goes on after its end: {list_of}"
        if event.before and event.after and int(event.before) >> 32 != int(event.after) >> 32:
            return f"task {event.id} goes from node to node without being given back: {list_of}"
        grants += event.after != ""
        ended = event.of == "tasks DELETE"
        solved = int(event.id) & 268435455 and ("verdicts", event.id) in lists
        if ended and solved and not event.before:
            return f"task {event.id} was ended by somebody who did not have it: {list_of}"
    if begun.get(list_of[0].id, 0) > grants:
        return f"task {list_of[0].id} was begun {begun[list_of[0].id]} times with {grants} leases"
    return None


def check_job(list_of, _, __):
    for event in list_of:
        if event.of == "jobs UPDATE" and event.after not in NEXT[event.before]:
            return f"job {event.id} was {event.before} and is {event.after}"
    return None


def check_delivery(list_of, _, __):
    made = [event for event in list_of if event.after == "delivered"]
    return f"delivery {list_of[0].id} was made twice: {list_of}" if len(made) > 1 else None


CHECKS = {"verdicts": check_verdict, "tasks": check_task, "jobs": check_job, "deliveries": check_delivery}
