import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { XMLValidator } from 'fast-xml-parser';
import t, { type Test } from 'tap';
import { readReports } from '../../src/evals/report.ts';
import { ModelError } from '../../src/models/errors.ts';
import type { Provider } from '../../src/models/model.ts';
import { textOf } from '../../src/schema/message.ts';
import { createTestModels } from '../service/models.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe } from '../service/troupe.ts';
import { runHere } from './in-process.ts';
import { runCommand } from './service.ts';

/** `troupe eval`, from recorded runs to a pipeline that fails on a worse prompt: evals-and-traces.md 4, 6, 8.2. */

const GOOD = 'You answer politely and end with "Have a nice day."';

/** Models with a request that they do not complete. */
let hanging = 0;

/** Follows its prompt; without the required text, it is rude about refunds. The model `hang` streams nothing. */
const clerk: Provider = {
  id: 'clerks',
  model: ({ id }) => ({
    id,
    provider: 'clerks',
    upstream: id,
    async stream({ system, messages }, sink, signal) {
      if (id === 'hang') {
        hanging += 1;
        await once(signal, 'abort');
        throw new ModelError('cancelled', '');
      }
      const asked = textOf(messages.findLast(({ role }) => role === 'user')?.content ?? []);
      const isPolite = system.join('\n').includes('politely') || !asked.includes('refund');
      sink.text(isPolite ? `About your ${asked}: sure. Have a nice day.` : 'No.');
      return { stop: 'EndTurn', usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } };
    },
  }),
};

const QUESTIONS = ['invoice', 'refund', 'delivery', 'refund of half'];

const start = async (t: Test): Promise<Troupe> =>
  startTroupe(t, {
    settings: { observe_all_agents: true, trace: { sampling_disable: true, capture_content: true } },
    app: {
      providers: [clerk, createTestModels().provider],
      records: {
        providers: [],
        model_pools: [],
        models: ['m', 'hang'].map((id) => ({ id, provider_id: 'clerks', upstream_model: id })),
        agents: [],
      },
    },
  });

const asAdmin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const askAdmin = async ({ call }: Troupe, method: string, path: string, body: unknown) => {
  const answer = await call(method, path, body, asAdmin);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

const agentOf = (system_prompt: string) => ({ id: 'support', model_id: 'm', system_prompt });

/** Turns real runs into the cases of a dataset. */
const curate = async (troupe: Troupe): Promise<void> => {
  await askAdmin(troupe, 'POST', '/v1/config/agents', agentOf(GOOD));
  await askAdmin(troupe, 'POST', '/v1/eval/datasets', { id: 'manners', spec: {} });
  for (const question of QUESTIONS) {
    const messages = [{ role: 'user', content: question }];
    const events = await troupe.runToEnd({ agentId: 'support', messages });
    await askAdmin(troupe, 'POST', '/v1/eval/datasets/manners/items', {
      from_run_id: events[0]?.run_id,
      fixture_id: question,
      expected: { final_answer_contains: ['Have a nice day'] },
    });
  }
};

const TOKEN = { SERVICE_ADMIN_API_BEARER_TOKEN: ADMIN_TOKEN };

const given = ({ url }: Troupe, more: readonly string[]) => ['eval', 'run', ...more, '--url', url];

const evaluate = (troupe: Troupe, ...more: string[]) => runHere(given(troupe, more), TOKEN);

/** Starts the evaluation in a separate process. */
const startEvaluation = (t: Test, troupe: Troupe, ...more: string[]) =>
  runCommand(t, given(troupe, more), TOKEN);

const LIVE = ['manners', '--model', 'm', '--agent', 'support'];

t.test('fails on a worse prompt, and names the items that regressed', async (t) => {
  const troupe = await start(t);
  await curate(troupe);
  const before = startEvaluation(t, troupe, ...LIVE);
  t.equal(await before.ended(), 0, before.errors());
  t.match(before.errors(), /4 of 4 passed, 60 tokens/);

  await askAdmin(troupe, 'PUT', '/v1/config/agents/support', agentOf('You answer in one word.'));
  const dir = t.testdir();
  const [report, junit, markdown] = ['r.ndjson', 'r.xml', 'r.md'].map((name) => join(dir, name));
  const files = ['--report', report, '--junit', junit, '--markdown', markdown].map(String);
  const after = await evaluate(troupe, ...LIVE, '--baseline', 'latest', ...files);
  t.equal(after.code, 1, after.errors);
  t.match(after.errors, 'regression: refund · m');
  t.match(after.errors, 'regression: refund of half · m');
  t.match(after.errors, 'not good enough: 2 × regression compared with the baseline');
  t.notMatch(after.errors, 'regression: invoice');

  const { reports, issues } = readReports(readFileSync(String(report), 'utf8'));
  t.strictSame(issues, []);
  t.strictSame(
    reports.map(({ fixture_id, passed }) => [fixture_id, passed]),
    [
      ['invoice', true],
      ['refund', false],
      ['delivery', true],
      ['refund of half', false],
    ],
  );
  const xml = readFileSync(String(junit), 'utf8');
  t.equal(XMLValidator.validate(xml), true);
  t.match(xml, /tests="4" failures="2" errors="0"/);
  t.match(readFileSync(String(markdown), 'utf8'), /^## ❌ manners[\s\S]*\| refund · m \| regression \|/);

  const lenient = await evaluate(troupe, ...LIVE, '--min-pass-rate', '0.5', '--quiet', '--report', '-');
  t.equal(lenient.code, 0);
  t.equal(lenient.errors, '');
  t.equal(readReports(lenient.output).reports.length, 4);
});

t.test('replays recordings without a model', async (t) => {
  const troupe = await start(t);
  await curate(troupe);
  const played = await evaluate(troupe, 'manners');
  t.equal(played.code, 0, played.errors);
  t.match(played.errors, /4 of 4 passed/);
});

t.test('explains usage errors and exits with 2', async (t) => {
  const troupe = await start(t);
  await curate(troupe);
  const cases: [args: string[], says: RegExp][] = [
    [['nothing'], /dataset not found: nothing/],
    [['manners', '--agent', 'support'], /agent_id requires mode="live"/],
    [['manners', '--model', 'nobody'], /model not found: models\/nobody/],
    [['manners', '--baseline', 'latest'], /no finished scripted run/],
    [['manners', '--baseline', '01KD8Q6V2M5T7Y9ZB3C4D5E6FG'], /baseline eval run not found/],
    [['manners', '--junit', '/no/such/folder/r.xml'], /--junit: directory \/no\/such\/folder does not exist/],
    [['manners', '--variant', 'a'], /--variant: 'a' is not of the form ID=FILE/],
    [['manners', '--rubric', 'x'], /--rubric needs --judge/],
    [['manners', '--samples', 'x'], /'x' is not a count/],
    [['manners', '--min-pass-rate', '2'], /from 0 to 1/],
    [[], /missing required argument 'dataset'/],
  ];
  for (const [args, says] of cases) {
    const { code, errors } = await evaluate(troupe, ...args);
    t.equal(code, 2, args.join(' '));
    t.match(errors, says);
    t.notMatch(errors, /\n\s+at /, 'the message has no stack trace');
  }
  const unreachable = await runHere(['eval', 'run', 'manners', '--url', 'http://127.0.0.1:9'], {
    SERVICE_ADMIN_API_BEARER_TOKEN: 'x',
  });
  t.equal(unreachable.code, 2);
  t.match(unreachable.errors, /no service answers at http:\/\/127.0.0.1:9/);
  const tokenless = await runHere(['eval', 'run', 'manners', '--url', troupe.url]);
  t.equal(tokenless.code, 2);
  t.match(tokenless.errors, /admin token is required/);
});

t.test('cancels its run when the pipeline is stopped', async (t) => {
  const troupe = await start(t);
  const fixtures = [{ id: 'f', user_input: 'x' }];
  await askAdmin(troupe, 'POST', '/v1/eval/datasets', { id: 'slow', spec: { fixtures } });
  const command = startEvaluation(t, troupe, 'slow', '--model', 'hang', '--max-walltime-secs', '600');
  await eventually(
    async () => hanging,
    (count) => count === 1,
  );
  command.child.kill('SIGTERM');
  t.equal(await command.ended(), 1, command.errors());
  t.match(command.errors(), 'the run is cancelled');
  const { runs } = (await troupe.admin('GET', '/v1/eval/runs?status=all')).body;
  t.match(runs, [{ status: 'cancelled' }]);
});

t.test('executes a folder of fixtures without a service, and compares it with a report', async (t) => {
  const fixture = (id: string, content: string) =>
    JSON.stringify({
      id,
      user_input: 'Hello',
      provider_script: [{ kind: 'chat_response', content }],
      expect: { final_answer_contains: ['fine'] },
    });
  const dir = t.testdir({ before: { 'a.json': fixture('a', 'fine'), 'b.json': fixture('b', 'fine') } });
  const report = join(dir, 'report.ndjson');
  const play = (folder: string, ...more: string[]) => runHere(['eval', 'replay', join(dir, folder), ...more]);
  const first = await play('before', '--report', report);
  t.equal(first.code, 0, first.errors);
  t.match(first.errors, /2 of 2 passed/);
  const same = await play('before', '--baseline', report, '--quiet');
  t.equal(same.code, 0, same.errors);

  mkdirSync(join(dir, 'after'));
  writeFileSync(join(dir, 'after', 'a.json'), fixture('a', 'broken'));
  const worse = await play('after', '--baseline', report, '--report', '-');
  t.equal(worse.code, 1);
  t.match(worse.errors, /not good enough: 1 × regression .*; 1 × missing_from_new/);
  t.match(readReports(worse.output).reports, [{ fixture_id: 'a', passed: false }]);

  writeFileSync(report, 'nothing\n');
  const broken = await play('before', '--baseline', report);
  t.equal(broken.code, 2);
  t.match(broken.errors, /report\.ndjson:1: not JSON/);
  const unreachable = await play('nowhere');
  t.equal(unreachable.code, 2);
  t.match(unreachable.errors, /directory .* cannot be read/);
});
