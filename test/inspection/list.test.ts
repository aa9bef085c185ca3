import t from 'tap';
import type { Actor, AnyStateMachine } from 'xstate';
import { type ActorFilter, inState, problemOfState, tagged } from '../../src/inspection/filter.ts';
import { createInspector, type Inspector } from '../../src/inspection/inspector.ts';
import { startRun, startRuns, startThread } from './actors.ts';

/** Lists of live actors: order, pages, filters and costs. */

const scope = 'default';
const MANY = 1500;
const PAGE = 100;

const setup = (at = 1000) => createInspector({ clock: { now: () => at } });

const beginRun = (inspector: Inspector, actor: Actor<AnyStateMachine>, id: string, parent?: string) =>
  inspector.began(actor, {
    machine: 'run',
    id,
    scope,
    ...(parent !== undefined && { parent: `thread:${parent}` }),
  });

const idsOf = (inspector: Inspector, filter: ActorFilter): string[] =>
  inspector.list(scope, filter, 0, MANY).items.map(({ id }) => id);

t.test('pages contain every continuously live actor once, in order, while others start and end', (t) => {
  const inspector = setup();
  const [first, ...more] = startRuns(MANY + 1);
  const ends = more.map((actor, index) => beginRun(inspector, actor, `R${index}`));
  const listed: string[] = [];
  let after = 0;
  let pages = 0;
  for (let more = true; more; pages += 1) {
    const page = inspector.list(scope, {}, after, PAGE);
    t.ok(page.items.length <= PAGE);
    listed.push(...page.items.map(({ id }) => id));
    ({ at: after, more } = page);
    // One from an earlier page, the last one of this page, one that is not listed yet, and a new one.
    for (const gone of [pages, (pages + 1) * PAGE - 1, MANY - 1 - pages]) ends[gone]?.();
    if (first && pages < 5) beginRun(inspector, first, `late ${pages}`);
  }
  t.ok(pages > 10);
  t.equal(new Set(listed).size, listed.length, 'no actor is listed twice');
  const numbers = listed.filter((id) => !id.includes('late')).map((id) => Number(id.slice('run:R'.length)));
  t.strictSame(
    numbers,
    numbers.toSorted((one, other) => one - other),
  );
  t.strictSame(
    numbers,
    Array.from({ length: numbers.length }, (_, index) => index),
    'no actor is missing',
  );
  t.ok(numbers.length >= MANY - pages - 1);
  t.equal(
    listed.filter((id) => id.includes('late')).length,
    5,
    'actors that start during the listing are at its end',
  );
  t.end();
});

t.test('a cursor of an earlier process starts from the beginning', (t) => {
  const [one, other] = startRuns(2);
  const [before, after] = [setup(1000), setup(1001)];
  if (one && other) {
    for (let count = 0; count < 900; count += 1) beginRun(before, one, 'R')();
    beginRun(before, one, 'R');
    beginRun(after, other, 'R');
  }
  const { at } = before.list(scope, {}, 0, PAGE);
  t.equal(before.list(scope, {}, at, PAGE).items.length, 0);
  t.equal(after.list(scope, {}, at, PAGE).items.length, 1);
  t.end();
});

t.test('filters actors by machine, by thread and run with their descendants, and by state', (t) => {
  const inspector = setup();
  const [mine, second, alone, task] = [startRun(), startRun(), startRun(), startRun()];
  beginRun(inspector, second.actor, 'early', 'T');
  inspector.began(startThread().actor, { machine: 'thread', id: 'T', scope });
  beginRun(inspector, mine.actor, 'R', 'T');
  beginRun(inspector, alone.actor, 'alone');
  inspector.began(task.actor, { machine: 'remote-task', id: 'X', scope, parent: 'run:R' });
  inspector.began(startThread().actor, { machine: 'thread', id: 'R', scope });
  mine.actor.send({ type: 'CLAIM' });
  const [early, T, R, other, X, threadR] = [
    'run:early',
    'thread:T',
    'run:R',
    'run:alone',
    'remote-task:X',
    'thread:R',
  ];
  const table: [ActorFilter, (string | undefined)[]][] = [
    [{}, [early, T, R, other, X, threadR]],
    [{ machine: 'thread' }, [T, threadR]],
    [{ machine: 'dispatch' }, []],
    [{ thread: 'T' }, [early, T, R, X]],
    [{ thread: 'R' }, [threadR]],
    [{ thread: 'nobody' }, []],
    [{ run: 'R' }, [R, X]],
    [{ run: 'alone' }, [other]],
    [{ thread: 'T', run: 'R' }, [R, X]],
    [{ thread: 'R', run: 'R' }, []],
    [{ state: inState('created') }, [early, other, X]],
    [{ state: inState('running') }, [R]],
    [{ state: inState('running.inferring') }, [R]],
    [{ state: inState('inferring') }, [R]],
    [{ state: inState('infer') }, []],
    [{ state: inState('idle') }, [T, threadR]],
    [{ thread: 'T', machine: 'run', state: inState('created') }, [early]],
  ];
  for (const [filter, expected] of table) {
    t.strictSame(idsOf(inspector, filter), expected);
    t.strictSame(inspector.count(scope, filter, [filter.state]), [expected.length]);
  }
  t.end();
});

t.test('an actor that starts or ends is added to its family or removed from it', (t) => {
  const inspector = setup();
  const [one, other, again] = startRuns(3);
  if (!one || !other || !again) throw new Error('no runs');
  const ended = beginRun(inspector, one, 'one', 'T');
  beginRun(inspector, other, 'other', 'T');
  ended();
  t.strictSame(idsOf(inspector, { thread: 'T' }), ['run:other']);
  inspector.began(startThread().actor, { machine: 'thread', id: 'T', scope });
  t.match(inspector.list(scope, { thread: 'T', machine: 'thread' }, 0, 1).items, [
    { children: ['run:other'] },
  ]);
  beginRun(inspector, again, 'other', 'T2');
  t.strictSame(
    idsOf(inspector, { thread: 'T' }),
    ['thread:T'],
    'the id belongs to an actor of another thread',
  );
  t.strictSame(idsOf(inspector, { thread: 'T2' }), ['run:other']);
  t.end();
});

t.test('a page reads only the snapshots of the actors on it', (t) => {
  const inspector = setup();
  const runs = startRuns(MANY);
  for (const [index, actor] of runs.entries()) beginRun(inspector, actor, `R${index}`, `T${index}`);
  for (const actor of runs.slice(MANY / 2)) actor.send({ type: 'CLAIM' });
  let reads = 0;
  for (const actor of runs) {
    const { getSnapshot } = actor;
    actor.getSnapshot = () => {
      reads += 1;
      return getSnapshot.call(actor);
    };
  }
  for (const filter of [{}, { state: inState('running') }, { thread: 'T7' }, { run: 'R7' }]) {
    reads = 0;
    const { items } = inspector.list(scope, filter, 0, PAGE);
    inspector.count(scope, filter, [inState('created'), tagged('run', 'running')]);
    t.ok(items.length > 0);
    t.equal(reads, items.length);
  }
  t.end();
});

t.test('an unknown state name is reported with the known ones', (t) => {
  for (const part of ['running', 'running.retrying.pausing', 'retrying.pausing', 'pausing', 'idle'])
    t.equal(problemOfState(part), undefined, part);
  t.equal(problemOfState('running', 'run'), undefined);
  t.match(
    problemOfState('idle', 'run'),
    /^the machine 'run' does not have a state 'idle'.*states: created, running,/,
  );
  t.match(problemOfState('runing'), /^no machine has a state 'runing'; did you mean 'running'\?/);
  for (const wrong of ['', '.', 'run', 'running.', '.running', 'running inferring', 'inferring.running'])
    t.type(problemOfState(wrong), 'string', wrong);
  t.end();
});
