import t, { type Test } from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { asks, hangs } from './models.ts';
import { createTestTools, type TestTools } from './tools.ts';
import { eventually, type RunStream, startTroupe, type Troupe } from './troupe.ts';
import { TERMINAL, type View, viewOf } from './view.ts';

/**
 * Every way to end a run, in every phase of a run: runtime.md 18.3, 18.7, 18.16, 18.20 and 19, checks 15, 46, 47 and
 * 49. Each pair is a test: the run ends as cancelled, exactly once, and nothing of it continues.
 */

type Stage = { troupe: Troupe; tools: TestTools; view: View; thread: string };

type Reached = { run_id: string; stream?: RunStream };

/** Brings a run of the agent `steps` on the thread to the phase. */
type Phase = {
  reach(stage: Stage): Promise<Reached>;
  /** Its dispatch is claimed and the run is executing. */
  executes: boolean;
  /** The thread is busy with other work. */
  behind?: true;
};

const messages = [{ role: 'user', content: 'Hello' }];

const begin = async ({ troupe, thread }: Stage): Promise<Reached & { stream: RunStream }> => {
  const stream = await troupe.run({ agentId: 'steps', threadId: thread, messages });
  const { run_id } = await stream.until('run_start');
  return { run_id: String(run_id), stream };
};

const suspended = async (stage: Stage, tool = 'risky'): Promise<string> => {
  stage.troupe.models.steps.push(asks([`c-${stage.thread}`, tool]));
  const { run_id, stream } = await begin(stage);
  await stream.rest();
  return run_id;
};

const holds = ({ tools, thread }: Stage, call = `c-${thread}`) =>
  eventually(
    async () => tools.holding(),
    (held) => held.includes(call),
  );

const approve = ({ troupe, thread }: Stage, run_id: string) =>
  troupe.post(`/v1/runs/${run_id}/decision`, { toolCallId: `c-${thread}`, action: 'resume' });

const busyWithAnother = async ({ troupe, view }: Stage): Promise<void> => {
  await view.say('other work', { agentId: 'slow' });
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
};

const PHASES: Record<string, Phase> = {
  'before its first token': {
    executes: true,
    async reach(stage) {
      stage.troupe.models.steps.push(hangs());
      const reached = await begin(stage);
      await reached.stream.until('step_start');
      return reached;
    },
  },
  'while it streams': {
    executes: true,
    async reach(stage) {
      stage.troupe.models.steps.push(hangs('partial'));
      const reached = await begin(stage);
      await reached.stream.until('text_delta');
      return reached;
    },
  },
  'in a tool': {
    executes: true,
    async reach(stage) {
      stage.troupe.models.steps.push(asks([`c-${stage.thread}`, 'hold']));
      const reached = await begin(stage);
      await holds(stage);
      return reached;
    },
  },
  'in a tool beside a suspended call': {
    executes: true,
    async reach(stage) {
      const call = `c-${stage.thread}`;
      stage.troupe.models.steps.push(asks([`${call}-risky`, 'risky'], [call, 'hold']));
      const reached = await begin(stage);
      await holds(stage);
      return reached;
    },
  },
  'in a tool that was approved': {
    executes: true,
    async reach(stage) {
      const run_id = await suspended(stage, 'guarded');
      await approve(stage, run_id);
      await holds(stage);
      return { run_id };
    },
  },
  'in the pause before a retry': {
    executes: false,
    async reach(stage) {
      // The circuit breaker of a model opens when runs fail one after another, so a run succeeds between two failures.
      await stage.troupe.runToEnd({ agentId: 'steps', messages });
      stage.troupe.models.steps.push(() => {
        throw new ModelError('overloaded', 'busy');
      });
      const reached = await begin(stage);
      await eventually(
        () => stage.view.dispatches(),
        ([dispatch]) => dispatch?.attempt_count === 1,
      );
      return reached;
    },
  },
  'during the hand-over to waiting': {
    executes: false,
    async reach(stage) {
      stage.troupe.models.steps.push(asks([`c-${stage.thread}`, 'risky']));
      const reached = await begin(stage);
      await reached.stream.until('tool_call_done');
      return reached;
    },
  },
  'while it waits': { executes: false, reach: async (stage) => ({ run_id: await suspended(stage) }) },
  'while it waits after a restart': {
    executes: false,
    async reach(stage) {
      const run_id = await suspended(stage);
      await stage.troupe.restart();
      return { run_id };
    },
  },
  'while it is queued': {
    executes: false,
    behind: true,
    async reach(stage) {
      const { troupe, thread } = stage;
      await troupe.runToEnd({ agentId: 'echo', threadId: thread, messages });
      await busyWithAnother(stage);
      const { body } = await stage.view.say('queued', { agentId: 'steps' });
      return { run_id: String(body.accepted_run_id) };
    },
  },
  'while its decision is queued': {
    executes: false,
    behind: true,
    async reach(stage) {
      const run_id = await suspended(stage);
      await busyWithAnother(stage);
      await approve(stage, run_id);
      return { run_id };
    },
  },
};

type Ending = {
  act(stage: Stage, run_id: string): Promise<{ status: number }>;
  status: number;
  /** The status of a dispatch that was claimed when its run was ended. */
  dispatch: 'Acked' | 'Superseded';
  /** Ends the current work of the thread, so the run is affected only when the thread is busy with it. */
  ofThread?: true;
  deletes?: true;
};

const ENDINGS: Record<string, Ending> = {
  'cancelled by its id': {
    act: ({ troupe }, run_id) => troupe.post(`/v1/runs/${run_id}/cancel`),
    status: 202,
    dispatch: 'Acked',
  },
  'cancelled by the id of its dispatch': {
    act: async ({ troupe, view }, run_id) =>
      troupe.post(`/v1/runs/${(await view.run(run_id)).dispatch_id}/cancel`),
    status: 202,
    dispatch: 'Acked',
  },
  'cancelled by its thread': {
    act: ({ view }) => view.post('/cancel'),
    status: 202,
    dispatch: 'Acked',
    ofThread: true,
  },
  interrupted: { act: ({ view }) => view.post('/interrupt'), status: 202, dispatch: 'Superseded' },
  'replaced by a run of another agent': {
    act: async ({ troupe, thread }) => {
      const stream = await troupe.run({ agentId: 'echo', threadId: thread, messages });
      await stream.rest();
      return stream;
    },
    status: 200,
    dispatch: 'Superseded',
  },
  'deleted with its thread': {
    act: ({ troupe, thread }) => troupe.call('DELETE', `/v1/threads/${thread}`),
    status: 204,
    dispatch: 'Superseded',
    deletes: true,
  },
};

const checkStream = async (t: Test, stream: RunStream): Promise<void> => {
  await stream.rest();
  const finishes = stream.raw().match(/"event_type":"run_finish".*/g) ?? [];
  t.equal(finishes.length, 1, 'the stream has one end');
  t.match(finishes[0], /"termination":\{"type":"(cancelled|suspended)"\}/);
};

const checkDeleted = async (t: Test, { troupe, view, thread }: Stage, run_id: string): Promise<void> => {
  const kinds = (await view.events())
    .filter((event) => event.run_id === run_id)
    .map((each) => each.event_kind);
  t.equal(kinds.filter((kind) => TERMINAL.includes(kind)).length, 1, `terminal events: ${kinds}`);
  t.ok(TERMINAL.includes(kinds.at(-1) ?? ''), `the terminal event is the last of its run: ${kinds}`);
  for (const path of ['', '/messages']) {
    t.equal(
      (await troupe.call('GET', `/v1/threads/${thread}${path}`)).status,
      404,
      'the thread is not recreated',
    );
  }
};

for (const [phaseName, phase] of Object.entries(PHASES)) {
  t.test(`ends a run ${phaseName}`, async (t) => {
    const tools = createTestTools();
    const troupe = await startTroupe(t, {
      app: { tools: tools.tools },
      settings: { mailbox: { retry_base_ms: 60_000, retry_cap_ms: 60_000 } },
    });
    const endings = Object.entries(ENDINGS).filter(([, { ofThread }]) => !(ofThread && phase.behind));
    for (const [index, [name, ending]] of endings.entries()) {
      t.test(name, async (t) => {
        const thread = `T${index}`;
        const view = viewOf(troupe, thread);
        const stage: Stage = { troupe, tools, view, thread };
        const { run_id, stream } = await phase.reach(stage);
        t.equal((await ending.act(stage, run_id)).status, ending.status);

        const run = await view.until(run_id, 'done');
        t.match(run, { termination_reason: { type: 'cancelled' } });
        if (stream) await checkStream(t, stream);
        t.equal((await troupe.post(`/v1/runs/${run_id}/cancel`)).status, 404, 'the run has ended');
        if (phase.executes) {
          const last = (await view.dispatches()).find(({ dispatch_id }) => dispatch_id === run.dispatch_id);
          t.match(last, { status: ending.dispatch, run_status: 'done', termination: { type: 'cancelled' } });
        }
        troupe.models.releaseAll();
        tools.release();
        const executed = [...tools.executed];
        if (ending.deletes) return checkDeleted(t, stage, run_id);
        const next = await troupe.runToEnd({ agentId: 'echo', threadId: thread, messages });
        t.match(next.at(-1), { termination: { type: 'natural_end' } }, 'the thread accepts another run');
        await view.check(t);
        t.strictSame(tools.executed, executed, 'a cancelled run executes no further tool');
        t.notOk((await view.texts()).includes('assistant: partial'), 'partial text is not kept');
      });
    }
  });
}
