import { spawnSync } from 'node:child_process';
import t from 'tap';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { asks } from './models.ts';
import { decline, suspend, withTools } from './suspended.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';

/** Metrics that a running service exports to Prometheus: evals-and-traces.md 11 and checks 70 to 72. */

const messages = [{ role: 'user', content: 'Hello' }];

const scrape = async ({ url }: Troupe): Promise<string> => (await fetch(`${url}/metrics`)).text();

/** Scrapes until the series has this value. */
const reaches = async (troupe: Troupe, series: string, value: number): Promise<string> => {
  await eventually(
    async () => valueIn(await scrape(troupe), series),
    (found) => found === value,
  );
  return scrape(troupe);
};

/** The value of a series; undefined when the series does not exist. */
const valueIn = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((each) => each.startsWith(`service_${series} `));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
};

t.test('counts the tokens of a cancelled completion as estimates', async (t) => {
  const troupe = await startTroupe(t);
  const stream = await troupe.run({ agentId: 'slow', threadId: 'T', messages });
  await stream.until('text_delta');
  t.equal((await troupe.post('/v1/threads/T/cancel', {})).status, 202);
  await stream.rest();
  const series = (type: string) =>
    `inference_cut_off_tokens_total{model="slow-upstream",provider="test",type="${type}"}`;
  const text = await reaches(troupe, series('output'), 6);
  t.ok((valueIn(text, series('input')) ?? 0) >= 5);
  t.equal(
    valueIn(text, 'inference_tokens_total{model="slow-upstream",provider="test",type="input"}'),
    undefined,
  );
});

t.test('counts structured results by mode, and their repairs', async (t) => {
  const troupe = await startTroupe(t);
  const output_schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const answers = (value: object) => asks(['f', 'final_answer', value]);
  troupe.models.steps.push(answers({}), answers({ a: 1 }));
  await troupe.runToEnd({ agentId: 'steps', messages, output_schema });
  troupe.models.steps.push(answers({}), answers({}), answers({}));
  await troupe.runToEnd({ agentId: 'steps', messages, output_schema });
  const text = await scrape(troupe);
  t.equal(valueIn(text, 'structured_outputs_total{mode="tool",result="valid"}'), 1);
  t.equal(valueIn(text, 'structured_outputs_total{mode="tool",result="invalid"}'), 1);
  t.equal(valueIn(text, 'output_repairs_total'), 3);
});

t.test('counts suspensions, denials and delegations with their outcomes', async (t) => {
  const agents = [AgentSpec.parse({ id: 'boss', model_id: 'steps', delegates: ['echo'] })];
  const { troupe } = await withTools(t, { app: { records: { ...NO_RECORDS, agents } } });
  await suspend(troupe, 'T', ['c1', 'risky']);
  t.equal((await troupe.post('/v1/threads/T/decision', decline('c1'))).status, 202);
  await reaches(troupe, 'agent_session_duration_seconds_count', 1);
  troupe.models.steps.push(asks(['d1', 'agent_run_echo', { prompt: 'say hi' }]));
  await troupe.runToEnd({ agentId: 'boss', messages });
  // The delegating run and its delegate.
  const text = await reaches(troupe, 'agent_session_duration_seconds_count', 3);
  for (const series of [
    'agent_suspensions_total{action="suspended",resume_mode="none"}',
    'agent_suspensions_total{action="resumed",resume_mode="cancel"}',
    'agent_delegations_total{status="ok"}',
    'agent_delegation_duration_seconds_count{status="ok"}',
  ])
    t.equal(valueIn(text, series), 1, series);
  t.equal(valueIn(text, 'mailbox_dispatch_depth{status="queued"}'), 0);
  t.equal(valueIn(text, 'mailbox_dispatch_depth{status="claimed"}'), 0);
  const acked = valueIn(text, 'mailbox_dispatch_depth{status="acked"}') ?? 0;
  t.ok(acked >= 2);
  const ack = 'operation="ack",result="ok"';
  t.equal(valueIn(text, `mailbox_operations_total{${ack}}`), acked);
  t.equal(valueIn(text, `mailbox_operation_duration_seconds_count{${ack}}`), acked);
  t.equal(
    valueIn(text, 'mailbox_dispatch_eligible_to_start_seconds_count'),
    valueIn(text, 'mailbox_dispatch_enqueue_to_start_seconds_count'),
  );
});

t.test('includes the work of an earlier process in the depth of the mailbox', async (t) => {
  const troupe = await startTroupe(t);
  await troupe.run({ agentId: 'slow', threadId: 'T', messages });
  await troupe.post('/v1/threads/T/mailbox', { payload: { text: 'behind' } });
  await reaches(troupe, 'mailbox_dispatch_depth{status="queued"}', 1);
  await troupe.restart();
  const text = await reaches(troupe, 'mailbox_dispatch_depth{status="claimed"}', 1);
  t.equal(valueIn(text, 'mailbox_dispatch_depth{status="queued"}'), 1);
  t.equal(valueIn(text, 'mailbox_queue_depth'), 1);
});

t.test('groups all tools that a model has invented into one series', async (t) => {
  const troupe = await startTroupe(t);
  const made = (round: number): ReturnType<typeof asks> =>
    asks(
      ...Array.from({ length: 60 }, (_, i): [string, string] => [`c${round}-${i}`, `made_up_${round}_${i}`]),
    );
  troupe.models.steps.push(made(1), made(2), made(3));
  await troupe.runToEnd({ agentId: 'steps', messages });
  const text = await scrape(troupe);
  t.equal(valueIn(text, 'tool_calls_total{tool="unknown",status="failed"}'), 180);
  t.notMatch(text, 'made_up');
});

t.test('exports metrics that promtool accepts', async (t) => {
  const troupe = await startTroupe(t);
  await troupe.runToEnd({ agentId: 'echo', messages });
  const text = await scrape(troupe);
  const found = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (found.error) {
    t.pass('promtool is not there: it is in the package prometheus', { skip: true });
    return;
  }
  t.equal(found.stdout + found.stderr, '');
  t.equal(found.status, 0);
});
