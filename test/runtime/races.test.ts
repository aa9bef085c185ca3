import t, { type Test } from 'tap';
import { z } from 'zod';
import type { Provider } from '../../src/models/model.ts';
import { Conflict, NotFound } from '../../src/schema/outcome.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { settle } from '../http/serve.ts';
import { rowsOf } from './rows.ts';
import { startRuntime, type TestRuntime } from './runtime.ts';

/**
 * Every kind of request at every commit in the life of a run: runtime.md 18.1, 18.3, 18.6, 18.7, 18.16 and 12 ("a
 * decision that arrives between the suspend event and the durable wait must be accepted").
 *
 * The story is one run: a tool, a tool that needs approval, the decision, the completion. One of its commits is
 * delayed, another request arrives, and the commit continues. Whatever happens to the run, nothing accepted is lost,
 * nothing is done twice, and the thread stays usable. Event-loop ticks are the only clock.
 */

const SCOPE = 'default';

type Scene = {
  runtime: TestRuntime;
  thread: string;
  executed: string[];
  /** After a denial the model makes the call again, and that one is not decided. */
  isRefused?: boolean;
};

const provider: Provider = {
  id: 'story',
  model: ({ id }) => ({
    id,
    provider: 'story',
    upstream: id,
    async stream({ messages }, sink) {
      const asked = messages.flatMap(({ tool_calls }) => tool_calls ?? []).length;
      const last = messages.at(-1);
      const calls = ['note', 'risky'];
      const next = asked === 0 || last?.role === 'tool' ? calls[asked] : undefined;
      if (next === undefined) {
        sink.text('answer');
        return { stop: 'EndTurn' };
      }
      sink.toolStart(next, next);
      sink.toolEnd(next, '{}');
      return { stop: 'ToolUse' };
    },
  }),
};

const decide = ({ runtime, thread }: Scene, payload: { approved: boolean }): Promise<void> =>
  runtime.runtime.decide(SCOPE, thread, 'thread', { tool_call_id: 'risky', action: 'resume', payload });

const submit =
  (mode: 'foreground' | 'queue' | 'live_then_queue' | 'interrupt_then_queue') =>
  async ({ runtime, thread }: Scene): Promise<void> => {
    await runtime.runtime.submit(SCOPE, thread, { ...runtime.input('more'), mode });
  };

const EVENTS: Record<string, (scene: Scene) => Promise<unknown>> = {
  'queued input': submit('queue'),
  'steered input': submit('live_then_queue'),
  'a foreground run': submit('foreground'),
  'input that interrupts': submit('interrupt_then_queue'),
  'two foreground runs': (scene) => Promise.all([submit('foreground')(scene), submit('foreground')(scene)]),
  'steered and queued input': (scene) =>
    Promise.all([submit('live_then_queue')(scene), submit('queue')(scene)]),
  'a decision': (scene) => decide(scene, { approved: true }),
  'the same decision twice': (scene) =>
    Promise.allSettled([decide(scene, { approved: true }), decide(scene, { approved: true })]),
  async 'a refusal'(scene) {
    await decide(scene, { approved: false });
    scene.isRefused = true;
  },
  'a cancel': ({ runtime, thread }) => runtime.runtime.cancel(SCOPE, thread, 'thread'),
  'an interrupt': ({ runtime, thread }) => runtime.runtime.interrupt(SCOPE, thread),
  'a cancel and then steered input': (scene) =>
    Promise.all([EVENTS['a cancel']?.(scene).catch(refused), submit('live_then_queue')(scene)]),
  'steered input and then a cancel': (scene) =>
    Promise.all([submit('live_then_queue')(scene), EVENTS['a cancel']?.(scene).catch(refused)]),
  'a delete': ({ runtime, thread }) => runtime.runtime.threads.remove(SCOPE, thread, 'detach'),
};

/** The number of messages that each request sends. */
const SENT: Record<string, number> = {
  'queued input': 1,
  'steered input': 1,
  'a foreground run': 1,
  'input that interrupts': 1,
  'two foreground runs': 2,
  'steered and queued input': 2,
  'a cancel and then steered input': 1,
  'steered input and then a cancel': 1,
};

/** The only errors that requests may be rejected with. */
const refused = (error: unknown): 'refused' => {
  if (error instanceof NotFound || error instanceof Conflict) return 'refused';
  throw error;
};

/** The run from its start to its end, as far as it gets. */
const story = async (scene: Scene): Promise<void> => {
  const { runtime, thread } = scene;
  const rows = rowsOf(runtime, thread);
  await runtime.runtime.submit(SCOPE, thread, { ...runtime.input('Hello'), mode: 'queue' });
  await rows.rest();
  if (!scene.isRefused && rows.runs().some(({ status }) => status === 'waiting')) {
    await decide(scene, { approved: true }).catch(refused);
  }
  await rows.rest();
};

/** False when the story ends before this commit. */
const happensAt = async (t: Test, scene: Scene, commit: number, name: string): Promise<boolean> => {
  const { runtime, thread, executed } = scene;
  const rows = rowsOf(runtime, thread);
  const reached = runtime.holdCommit(commit);
  const told = story(scene);
  await Promise.race([reached, told]);
  if (!runtime.isHeld()) return false;
  const happened = EVENTS[name]?.(scene).catch(refused);
  await settle();
  runtime.goOn();
  const outcome = await happened;
  await told.catch(refused);
  await rows.rest();
  if (name === 'a delete' && outcome !== 'refused') {
    t.equal(rows.thread(), undefined, `commit ${commit}: the thread does not come back`);
    t.ok(rows.runs().every(({ status }) => status === 'done'));
    return true;
  }
  rows.check(t);
  const sent = SENT[name] ?? 0;
  const kept = rows.said().filter((text) => text === 'more').length;
  if (outcome === 'refused') t.ok(kept <= sent, `commit ${commit}: nothing is kept twice`);
  else t.equal(kept, sent, `commit ${commit}: what was accepted is kept, once`);
  for (const call of ['note', 'risky']) {
    const times = executed.filter((each) => each === `${thread} ${call}`).length;
    if (times > 1) t.fail(`commit ${commit}: '${call}' was executed ${times} times`);
  }
  if (name === 'a refusal' && outcome !== 'refused') t.notOk(executed.includes(`${thread} risky`));
  await runtime.runtime.submit(SCOPE, thread, { ...runtime.input('and on'), mode: 'foreground' });
  await rows.rest();
  // An interrupt may arrive before the model has made its call; then this run makes it.
  if (rows.runs().some(({ status }) => status === 'waiting')) await decide(scene, { approved: true });
  await rows.rest();
  const last = rows.runs().findLast(({ status }) => status === 'done');
  t.match(
    last,
    { termination_reason: { type: 'natural_end' }, final_output: 'answer' },
    'the thread accepts another run',
  );
  rows.check(t);
  return true;
};

for (const name of Object.keys(EVENTS)) {
  t.test(`handles ${name} at any commit of a run`, async (t) => {
    const executed: string[] = [];
    const tool = (id: string, needsApproval: boolean) =>
      defineTool({
        id,
        description: id,
        input: z.object({}),
        needsApproval,
        execute: (_, { thread_id, call_id }) => {
          executed.push(`${thread_id} ${call_id}`);
          return { data: 'done' };
        },
      });
    const tools = [tool('note', false), tool('risky', true)];
    const runtime = await startRuntime(t, { provider, tools });
    let commit = 1;
    while (await happensAt(t, { runtime, thread: `T${commit}`, executed }, commit, name)) commit += 1;
    t.ok(commit > 6, `the story has ${commit - 1} commits`);
  });
}
