import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { openPython } from '../interop/python.ts';
import { asks } from '../service/models.ts';
import { eventually, type RunEventLike, startTroupe, type Troupe } from '../service/troupe.ts';
import { jsPeer, pythonPeer, type SdkPeer, TOKEN } from './peers.ts';

/** Agents that the servers of both official SDKs execute, called directly and as delegates (a2a.md 12, 14). */

const python = await openPython('a2a-python');

const far = (id: string, peer: SdkPeer, token = TOKEN) => ({
  id,
  endpoint: {
    base_url: peer.base_url,
    auth: { type: 'bearer', token },
    options: { poll_interval_ms: 20 },
  },
});

const startWith = async (t: Test, peer: SdkPeer): Promise<Troupe> => {
  const agents = [
    far('far', peer),
    far('stranger', peer, 'wrong'),
    { id: 'boss', model_id: 'steps', delegates: ['far'] },
  ].map((agent) => AgentSpec.parse(agent));
  return startTroupe(t, { app: { records: { ...NO_RECORDS, agents } } });
};

const say = (text: string, agentId = 'far', threadId: string = randomUUID()) => ({
  agentId,
  threadId,
  messages: [{ role: 'user', content: text }],
});

const deltasIn = (events: readonly RunEventLike[]): unknown[] =>
  events.flatMap((event) => (event.event_type === 'text_delta' ? [event.delta] : []));

type TaskBody = { id: string; status: { state: string; message?: { parts: unknown[] } } };

/** The behavior of any agent, regardless of its SDK. */
const walk = (name: string, peerOf: (t: Test) => Promise<SdkPeer>, loses: boolean) =>
  t.test(name, async (t) => {
    const peer = await peerOf(t);
    const troupe = await startWith(t, peer);
    const runOf = async (run_id: unknown) => (await troupe.call('GET', `/v1/runs/${run_id}`)).body;
    /** Checks that the action sends this number of requests. */
    const sends = async (t: Test, count: number, act: () => Promise<void>): Promise<void> => {
      const before = peer.sent.length;
      await act();
      await eventually(
        async () => peer.sent.length,
        (length) => length >= before + count,
      );
      t.equal(peer.sent.length - before, count, 'each text is sent once');
    };

    t.test('the agent answers', (t) =>
      sends(t, 1, async () => {
        const events = await troupe.runToEnd(say('blue'));
        t.match(events.at(-1), { result: { response: 'blue it is', status: 'done' } });
      }),
    );

    t.test('the text of the agent is streamed', (t) =>
      sends(t, 1, async () => {
        const stream = await troupe.run(say('slow'));
        t.match(await stream.until('text_delta'), { delta: 'one ' });
        await peer.go();
        const rest = await stream.rest();
        t.strictSame(deltasIn(rest), ['two']);
        t.match(rest.at(-1), { result: { response: 'one two' } });
      }),
    );

    for (const [asks, status, reason, text] of [
      ['ask', 'waiting_input', 'user_input', 'Which colour?'],
      ['auth', 'waiting_auth', 'tool_permission', 'Log in first'],
    ] as const)
      t.test(`a run waits when its agent says ${asks}, and continues in the same task`, (t) =>
        sends(t, 2, async () => {
          const asked = say(asks);
          const end = (await troupe.runToEnd(asked)).at(-1);
          t.match(end, { result: { response: text, status } });
          t.match(await runOf(end?.run_id), { status: 'waiting', waiting: { reason } });
          const again = await troupe.runToEnd(say('green', 'far', asked.threadId));
          t.match(again.at(-1), { run_id: end?.run_id, result: { response: 'green it is' } });
        }),
      );

    t.test(
      'passes the question of a delegate to the client of the calling task, and the response back',
      (t) =>
        sends(t, 2, async () => {
          troupe.models.steps.push(asks(['c1', 'agent_run_far', { prompt: 'ask' }]));
          const message = (text: string, taskId?: string) => ({
            message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text }], ...(taskId && { taskId }) },
          });
          const send = async (body: object): Promise<TaskBody> => {
            const { status, body: answer } = await troupe.post('/v1/a2a/boss/message:send', body);
            if (status !== 200) throw new Error(JSON.stringify(answer));
            return answer.task as TaskBody;
          };
          const asked = await send(message('Paint it'));
          t.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED');
          t.match(JSON.stringify(asked.status.message), /Which colour\?/);
          const done = await send(message('red', asked.id));
          t.equal(done.status.state, 'TASK_STATE_COMPLETED');
          const read = troupe.models.requests
            .at(-1)
            ?.request.messages.findLast(({ role }) => role === 'tool');
          t.match(JSON.stringify(read?.content), /red it is/, "the model receives the delegate's response");
        }),
    );

    for (const [how, text] of [
      ['reject', 'not my job'],
      ['fail', 'out of sheep'],
    ] as const)
      t.test(`a run ends with the text of an agent that says ${how}`, (t) =>
        sends(t, 1, async () => {
          const events = await troupe.runToEnd(say(how));
          t.match(events.at(-1), { termination: { type: 'error', value: text } });
        }),
      );

    t.test('returns a message that replaces a task', (t) =>
      sends(t, 1, async () => {
        const events = await troupe.runToEnd(say('message'));
        t.match(events.at(-1), { termination: { type: 'natural_end' }, result: { response: 'at once' } });
      }),
    );

    t.test('a file arrives with its name and bytes', (t) =>
      sends(t, 1, async () => {
        const events = await troupe.runToEnd(say('file'));
        const content = [{ raw: 'd29vbA==', mediaType: 'text/plain', filename: 'sheep.txt' }];
        t.match(events.at(-1), {
          termination: { type: 'natural_end' },
          result: { output: { artifacts: [{ id: 'response', content }] } },
        });
      }),
    );

    t.test('a wrong token is an error with the reason', (t) =>
      sends(t, 0, async () => {
        const events = await troupe.runToEnd(say('blue', 'stranger'));
        t.match(events.at(-1), { termination: { type: 'error', value: /status 401: who are you/ } });
      }),
    );

    t.test(
      `killed in the middle of an answer and started again, it ${loses ? 'has lost the task' : 'goes on'}`,
      (t) =>
        sends(t, 1, async () => {
          const stream = await troupe.run(say('slow'));
          await stream.until('text_delta');
          await peer.kill();
          await peer.restart();
          if (!loses) await peer.go();
          const end = (await stream.rest()).at(-1);
          if (loses) t.match(end, { termination: { type: 'error', value: /TASK_NOT_FOUND/ } });
          else t.match(end, { termination: { type: 'natural_end' }, result: { response: 'one two' } });
        }),
    );

    t.test('a call of a delegate also ends cleanly when the delegate is killed in the middle', (t) =>
      sends(t, 1, async () => {
        troupe.models.steps.push(asks(['c1', 'agent_run_far', { prompt: 'slow' }]));
        const stream = await troupe.run(say('Paint it', 'boss'));
        await eventually(
          () => troupe.admin('GET', '/v1/system/actors?machine=remote-task&state=streaming'),
          ({ body }) => body.total === 1,
        );
        await peer.kill();
        await peer.restart();
        if (!loses) await peer.go();
        const events = await stream.rest();
        const call = events.find(({ event_type }) => event_type === 'tool_call_done');
        if (loses) t.match(call, { result: { status: 'error', message: /^remote error: .*TASK_NOT_FOUND/ } });
        else t.match(call, { result: { status: 'success', data: { response: 'one two' } } });
        t.match(events.at(-1), { termination: { type: 'natural_end' } });
      }),
    );

    t.test('a service that restarts in the middle continues to follow the task', (t) =>
      sends(t, 1, async () => {
        const stream = await troupe.run(say('slow'));
        const { run_id } = await stream.until('run_start');
        await stream.until('text_delta');
        await troupe.restart();
        await peer.go();
        const run = await eventually(
          () => runOf(run_id),
          ({ status }) => status === 'done',
        );
        t.match(run, { final_output: 'one two', termination_reason: { type: 'natural_end' } });
      }),
    );
  });

walk('an agent of the JS server', jsPeer, false);
if (typeof python === 'string') t.comment(`no agent of the Python server: ${python}`);
else walk('an agent of the Python server', (t) => pythonPeer(t, python), true);
