import t, { type Test } from 'tap';
import { z } from 'zod';
import { createTroupe, defineAgent, OutputInvalid, RunFailed, type Troupe } from '../../src/index.ts';
import { type ScriptedTurn, scriptedModel } from '../../src/testing/scripted-model.ts';
import { HTTP_SERVER } from '../http/listener.ts';

/** Structured results in the embedding program: structured-results.md, check 13. */

const Triage = z.object({ team: z.enum(['billing', 'tech']), urgent: z.boolean() });
const triage = defineAgent({ id: 'triage', model_id: 'scripted', output: Triage });
const plain = defineAgent({ id: 'plain', model_id: 'scripted' });
const dated = defineAgent({
  id: 'dated',
  model_id: 'scripted',
  output: z.object({ on: z.string().refine((text) => !Number.isNaN(Date.parse(text)), 'is no date') }),
});

const VALUE = { team: 'billing', urgent: true } as const;

const start = async (t: Test, turns: readonly ScriptedTurn[]): Promise<Troupe> => {
  const model = scriptedModel(turns);
  const troupe = await createTroupe({
    settings: { storage_dir: t.testdir(), http_server: HTTP_SERVER },
    listen: false,
    providers: [model.provider],
    models: [model.entry],
    agents: [triage, plain, dated],
    log: { write() {} },
  });
  t.teardown(() => troupe.stop());
  return troupe;
};

const gives = (args: unknown): ScriptedTurn => ({ calls: [{ tool: 'final_answer', args }] });

t.test('resolves a run of a defined agent with its typed result', async (t) => {
  const troupe = await start(t, [gives(VALUE), 'Hello']);
  const { output, run_id, text } = await troupe.run(triage, 'My invoice is wrong');
  const team: 'billing' | 'tech' = output.team;
  // @ts-expect-error the result has no such property
  t.equal(output.nothing, undefined);
  t.equal(team, 'billing');
  t.strictSame(output, VALUE);
  t.equal(text, JSON.stringify(VALUE));
  t.strictSame((await troupe.runs.get(run_id)).structured_output, VALUE);
  const hello: string = (await troupe.run(plain, 'Hi')).output;
  t.equal(hello, 'Hello', 'the result without a schema is the text');
});

t.test('accepts the schema of the result per call', async (t) => {
  const troupe = await start(t, [gives({ result: [1, 2] })]);
  const { output } = await troupe.run('plain', 'Count', { output: z.array(z.number()) });
  const numbers: number[] = output;
  t.strictSame(numbers, [1, 2]);
});

t.test('rejects with OutputInvalid when the result never matches or zod rejects it', async (t) => {
  const wrong = gives({ team: 'sales', urgent: true });
  const troupe = await start(t, [wrong, wrong, wrong, gives({ on: 'never' })]);
  const invalid = await troupe.run(triage, 'Hi').catch((error: unknown) => error);
  t.ok(invalid instanceof OutputInvalid);
  t.match(invalid, {
    problems: ['/team: must be one of ["billing","tech"]'],
    text: JSON.stringify({ team: 'sales', urgent: true }),
    run_id: /./,
  });
  const refused = await troupe.run(dated, 'When?').catch((error: unknown) => error);
  t.ok(refused instanceof OutputInvalid);
  t.match(refused, { problems: ['/on: is no date'] });
});

t.test('rejects with RunFailed when a run ends in another way', async (t) => {
  const troupe = await start(t, []);
  const failed = await troupe.run(triage, 'Hi').catch((error: unknown) => error);
  t.ok(failed instanceof RunFailed);
  t.match(failed, { termination: { type: 'error' }, run_id: /./ });
});

t.test('reads the result of a stream in the client, with or without a schema', async (t) => {
  const troupe = await start(t, [gives(VALUE), gives(VALUE), 'Hello']);
  const request = { agentId: 'triage', messages: [{ role: 'user', content: 'Hi' }] } as const;
  const typed: { urgent: boolean } = await troupe.runs.stream(request).output(Triage);
  t.strictSame(typed, VALUE);
  t.strictSame(await troupe.runs.stream(request).output(), VALUE);
  const none = troupe.runs.stream({ ...request, output_schema: null }).output();
  await t.rejects(none, { name: 'OutputInvalid', problems: ['the run has no schema for its result'] });
});
