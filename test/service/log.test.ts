import t, { type Test } from 'tap';
import { z } from 'zod';
import { createLog } from '../../src/observability/log.ts';
import type { LogEvent } from '../../src/schema/log-events.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { asks } from './models.ts';
import { resume, suspend } from './suspended.ts';
import { createTestTools } from './tools.ts';
import { ADMIN_TOKEN, eventually, startTroupe } from './troupe.ts';

/** Lines that a service writes to its log, and values that it keeps out of it. */

type Line = Record<string, unknown> & { level: string; event: LogEvent };

const logged = async (t: Test, level: 'trace' | 'info') => {
  const lines: Line[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  const secretive = defineTool({
    id: 'secretive',
    description: 'Knows something.',
    input: z.object({ pin: z.string() }),
    execute: () => ({ data: 'RESULT-OF-A-TOOL' }),
  });
  const troupe = await startTroupe(t, {
    settings: { observe_all_agents: true },
    app: { log: createLog({ level, destination }), tools: [...createTestTools().tools, secretive] },
  });
  return { troupe, lines, said: (event: LogEvent) => lines.filter((line) => line.event === event) };
};

const messages = [{ role: 'user', content: 'PROMPT-OF-A-USER' }];

t.test('logs no message text and no secret in a whole scenario', async (t) => {
  const { troupe, lines } = await logged(t, 'trace');
  troupe.models.steps.push(
    asks(['s1', 'secretive', { pin: 'ARGUMENT-OF-A-CALL' }], ['r1', 'risky']),
    (sink) => {
      sink.text('ANSWER-OF-A-MODEL');
      return { stop: 'EndTurn' };
    },
  );
  await suspend(troupe, 'T');
  await troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages });
  await troupe.post('/v1/threads/T/decision', resume('r1'));
  await troupe.call(
    'POST',
    '/v1/config/providers',
    { id: 'p', adapter: 'openai', api_key: 'KEY-OF-A-PROVIDER' },
    {
      authorization: `Bearer ${ADMIN_TOKEN}`,
    },
  );
  await troupe.call('GET', '/v1/threads/PATH-OF-A-CLIENT?q=QUERY-OF-A-CLIENT');
  await troupe.call('POST', '/v1/runs', { agentId: 'nobody', messages });
  await eventually(
    async () => lines.filter(({ event }) => event === 'run.ended').length,
    (ended) => ended > 0,
  );
  await troupe.app.stop();
  const text = JSON.stringify(lines);
  t.ok(lines.length > 5);
  for (const word of ['PROMPT', 'ANSWER', 'ARGUMENT', 'RESULT', 'KEY', 'PATH', 'QUERY'])
    t.notMatch(text, `${word}-OF-A`, word);
  t.notMatch(text, ADMIN_TOKEN);
});

t.test('logs a request at level debug under the request id of its response', async (t) => {
  const { troupe, said } = await logged(t, 'trace');
  const { headers } = await troupe.call('GET', '/v1/threads/T/runs', undefined, { 'x-request-id': 'mine-1' });
  t.equal(headers.get('x-request-id'), 'mine-1');
  const minted = (await troupe.call('GET', '/health', undefined, { 'x-request-id': 'not one' })).headers.get(
    'x-request-id',
  );
  t.match(said('http.request_ended'), [
    { level: 'debug', request_id: 'mine-1', method: 'GET', route: '/v1/threads/:id/runs', seconds: Number },
    { request_id: minted, route: '/health', status: 200 },
  ]);
});

t.test('logs one line per run and none per request at level info', async (t) => {
  const { troupe, lines, said } = await logged(t, 'info');
  const [start] = await troupe.runToEnd({ agentId: 'echo', threadId: 'T', messages });
  await troupe.app.stop();
  t.match(said('run.ended'), [
    {
      level: 'info',
      run_id: start?.run_id,
      thread_id: 'T',
      agent_id: 'echo',
      model_id: 'echo',
      outcome: 'completed',
      reason: 'natural',
      input_tokens: 10,
      output_tokens: 20,
      seconds: Number,
    },
  ]);
  t.strictSame(said('http.request_ended'), []);
  t.ok(lines.length < 8);
});

t.test('logs failures with the ids of the run and the thread', async (t) => {
  const { troupe, said } = await logged(t, 'info');
  const { ModelError } = await import('../../src/models/errors.ts');
  troupe.models.failures.push(new ModelError('unauthorized', 'no'));
  const [start] = await troupe.runToEnd({ agentId: 'flaky', threadId: 'T', messages });
  const [failed] = said('run.inference_failed');
  t.match(failed, { level: 'warn', run_id: start?.run_id, thread_id: 'T' });
  t.notHas(failed, { attempt: Number }, 'such a failure is not tried again');
  troupe.models.failures.push(new ModelError('overloaded', 'later'), new ModelError('overloaded', 'later'));
  await troupe.runToEnd({ agentId: 'flaky', threadId: 'T', messages });
  t.match(
    said('run.inference_failed').slice(1),
    [1, 2].map((attempt) => ({ thread_id: 'T', attempt, max_attempts: 5 })),
  );
});

t.test('logs what a suspended run waits for, and its end', async (t) => {
  const { troupe, said } = await logged(t, 'info');
  await suspend(troupe, 'T', ['r1', 'risky']);
  const [line] = said('run.waiting');
  t.match(line, { level: 'info', thread_id: 'T', agent_id: 'steps', reason: 'tool_permission' });
  await troupe.post('/v1/threads/T/decision', resume('r1'));
  await eventually(
    async () => said('run.ended'),
    ([ended]) => ended?.run_id === line?.run_id,
  );
});
