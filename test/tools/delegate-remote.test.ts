import t from 'tap';
import { createDelegateTool } from '../../src/tools/delegate.ts';
import { remoteDelegate } from '../../src/tools/delegate-remote.ts';
import type { RemoteAgent, RemoteOutcome, RemoteTurn } from '../../src/tools/remote-agent.ts';
import type { Json, ToolContext } from '../../src/tools/tool.ts';

/** The tool of a remote delegate, with or without a decision (a2a.md 12.10). */

const TASK = { task_id: 'task-1', context_id: 'context-1' };
const DONE: RemoteOutcome = { task: TASK, text: 'done', output: {}, status: 'completed' };

const toolWith = (converse: (turn: RemoteTurn) => Promise<RemoteOutcome>) => {
  const cancelled: string[] = [];
  const turns: RemoteTurn[] = [];
  const remote: RemoteAgent = {
    key: 'a2a:x',
    converse(turn) {
      turns.push(turn);
      return converse(turn);
    },
    async cancel(task_id) {
      cancelled.push(task_id);
    },
  };
  const tool = createDelegateTool({ id: 'far', system_prompt: '\n  Counts. \nMore' }, remoteDelegate(remote));
  const told: string[] = [];
  const context = (more: Partial<ToolContext> = {}): ToolContext => ({
    scope: 's',
    run_id: 'r',
    thread_id: 't',
    call_id: 'c',
    agent_id: 'a',
    signal: new AbortController().signal,
    now: () => 0,
    progress: ({ status, message }) => told.push(`${status}: ${message}`),
    stream() {},
    relay() {},
    async keep() {},
    isLetGo: () => false,
    askModel: () => Promise.reject(new Error('there is no model')),
    state: { get: () => undefined },
    ...more,
  });
  return { tool, cancelled, turns, told, context };
};

const decided = (result: Json, resume_with: Json = TASK): Partial<ToolContext> => ({
  decision: { decision_id: 'd1', action: 'resume', result, updated_at: 0 },
  ticket_id: 'delegate_tool:c',
  resume_with,
});

t.test('describes a delegate without a description by the first line of its prompt', async (t) => {
  t.equal(toolWith(async () => DONE).tool.descriptor.description, 'Counts.');
});

t.test('sends a text, or an object with one, to the task that needs input', async (t) => {
  for (const payload of ['green', { text: 'green', other: 1 }]) {
    const { tool, turns, cancelled, context } = toolWith(async () => DONE);
    t.match(await tool.execute({ prompt: 'go' }, context(decided(payload))), { data: { response: 'done' } });
    t.match(turns[0]?.say, { ...TASK, message_id: 'r-d1', content: [{ text: 'green' }] });
    t.strictSame(cancelled, []);
  }
});

t.test('uses any other payload as the result, and cancels the task', async (t) => {
  const payloads: Json[] = [null, 7, ['a'], { approved: true }, '  ', { text: '' }];
  for (const payload of payloads) {
    const { tool, turns, cancelled, context } = toolWith(async () => DONE);
    t.strictSame(await tool.execute({ prompt: 'go' }, context(decided(payload))), { data: payload });
    t.equal(turns.length, 0);
    t.strictSame(cancelled, ['task-1']);
  }
});

t.test('starts the task on a decision for another ticket, such as a permission', async (t) => {
  const { tool, turns, cancelled, context } = toolWith(async () => DONE);
  const { decision } = decided({ approved: true });
  await tool.execute({ prompt: ' go ' }, context({ ...(decision && { decision }), ticket_id: 'perm_c' }));
  t.strictSame(turns[0]?.say, { message_id: 'r-c', content: [{ type: 'text', text: 'go' }] });
  t.strictSame(cancelled, []);
});

t.test('cancels a task that cannot be followed to its end', async (t) => {
  const { tool, cancelled, told, context } = toolWith(async ({ onSubmitted }) => {
    await onSubmitted(TASK);
    throw new Error('not to be understood');
  });
  await t.rejects(tool.execute({ prompt: 'go' }, context()), {
    message: 'remote error: not to be understood',
  });
  t.strictSame(told, ['running: delegating to far', 'failed: remote error: not to be understood']);
  t.strictSame(cancelled, ['task-1']);
});

t.test('cancels the task of an abandoned call, and ignores other values', async (t) => {
  const { tool, cancelled } = toolWith(async () => DONE);
  tool.giveUp?.(TASK);
  tool.giveUp?.('nonsense');
  t.strictSame(cancelled, ['task-1']);
});

t.test('follows the stored task of a call, whether it was started or decided', async (t) => {
  for (const more of [{}, decided('green')]) {
    const { tool, turns, context } = toolWith(async () => DONE);
    t.match(await tool.execute({ prompt: 'go' }, context({ ...more, kept: TASK })), {
      data: { response: 'done' },
    });
    t.strictSame([turns[0]?.follow, turns[0]?.say], [TASK, undefined]);
  }
});

for (const [what, isLetGo, stops] of [
  ['is released leaves its task to the next process', true, false],
  ['is cancelled stops its task', false, true],
] as const) {
  t.test(`a call that ${what}`, async (t) => {
    const cut = new AbortController();
    const { tool, turns, cancelled, context } = toolWith(async (turn) => {
      await turn.onSubmitted(TASK);
      cut.abort();
      throw new Error('cut off');
    });
    const kept: Json[] = [];
    const keep = async (task: Json): Promise<void> => {
      kept.push(task);
    };
    const call = tool.execute(
      { prompt: 'go' },
      context({ signal: cut.signal, keep, isLetGo: () => isLetGo }),
    );
    await t.rejects(call, /cut off/);
    t.strictSame(kept, [TASK]);
    t.strictSame([turns[0]?.leave?.aborted, turns[0]?.signal.aborted], [isLetGo, stops]);
    t.equal(cancelled.length > 0, stops);
  });
}
