import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import { asks } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';
import { ask, askWith, headers, read } from './ask.ts';
import type { House } from './visit.ts';

/** Traces: found, summed, looked at alone and in pairs, kept, and made into test cases. */

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const toast = (page: Page, text: string) => page.getByRole('alert').getByText(text).first().waitFor();
const rows = (page: Page) => page.locator('tbody tr[data-row]');
const events = (where: Page | Locator) => where.getByTestId('recent-traces-event-row');

const EVENTS = 2500;

const line = (at: number) =>
  JSON.stringify({
    type: at === 0 ? 'inference' : 'tool',
    name: `call-${at}`,
    started_at_ms: 1_700_000_000_000 + at,
    ended_at_ms: 1_700_000_000_001 + at,
    duration_ms: 1,
    input_tokens: 2,
    output_tokens: 1,
  });

export const onTraces = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const traced = { id: 'observed', model_id: 'steps', system_prompt: 'x', plugin_ids: ['observability'] };
  await troupe.call('POST', '/v1/config/agents', traced, headers);
  const weather = asks(['seen', 'get_weather', { location: 'Oslo' }]);
  const one = await askWith(troupe, traced.id, weather);
  const other = await ask(troupe, traced.id, 'What is new?');
  await eventually(
    () => read(troupe, '/v1/traces?agent_id=observed'),
    ({ runs }) => Array.isArray(runs) && runs.length === 2,
  );

  t.test('traces are filtered by the service, summed, and laid side by side', async (t) => {
    const { page, go, asked } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go('/traces');
    await page.getByRole('combobox', { name: 'Agent' }).selectOption(traced.id);
    await page.locator(`a[href="/traces/${one.run_id}"]`).waitFor();
    await page.waitForLoadState('networkidle');
    t.equal(await rows(page).count(), 2);
    t.match(await page.getByRole('region', { name: 'Of the 2 newest' }).textContent(), /Traces2Failed0%/);
    await page.getByLabel('Since').selectOption('1h');
    await page.waitForURL(/since=1h/);
    await page.waitForLoadState('networkidle');
    t.equal(await rows(page).count(), 2);
    t.ok(asked.some((each) => /agent_id=observed.*since=20/.test(each)));
    await page.getByLabel('Variant').pressSequentially('nobody', { delay: 1 });
    await page.getByText('Clear filters').waitFor();
    t.equal(await page.evaluate('document.activeElement.value'), 'nobody', 'whoever types is not disturbed');
    await button(page, 'Clear filters').click();
    await page.getByRole('combobox', { name: 'Agent' }).selectOption(traced.id);
    await page.locator(`a[href="/traces/${other.run_id}"]`).waitFor();

    await page.locator('thead [data-check]').hover();
    for (const { run_id } of [one, other]) await page.getByLabel(`Select ${run_id}`).check();
    await button(page, 'Keep for ever').click();
    await toast(page, '2 traces are kept');
    await button(page, 'Compare these two').click();
    await page.waitForURL(/\/traces\/.*with=/);
    const traces = page.getByRole('region', { name: /^Trace / });
    await events(page).nth(3).waitFor();
    t.strictSame(
      [await events(traces.nth(0)).count(), await events(traces.nth(1)).count()].sort(),
      [1, 3],
      'an inference; and an inference, its call and another inference',
    );
    await page.getByRole('button', { name: 'get_weather' }).click();
    await page.getByText('"type": "tool"').waitFor();
    await button(page, 'Show one').click();
    await page.waitForURL((url) => !url.search.includes('with='));
    t.equal(await traces.count(), 1);
  });

  t.test(
    'a run that was not observed, and one that there is not, are told apart from a part that is off',
    async (t) => {
      const { run_id } = await ask(troupe, 'echo', 'Unobserved');
      const { page, go } = await house.visit(t, { noisy: true });
      await go(`/traces/${run_id}`);
      await page.getByText('This run was not observed').waitFor();
      t.equal(await page.getByTestId('save-trace-as-fixture-button').count(), 0);
      await go('/traces/nope');
      await page.getByText('There is no run nope').waitFor();
    },
  );

  t.test('a trace is a test case after two clicks and its words', async (t) => {
    const { page, go } = await house.visit(t);
    await go(`/traces/${other.run_id}`);
    await page.getByTestId('save-trace-as-fixture-button').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').first().fill('of-traces');
    await dialog.getByRole('textbox').last().fill('echo');
    await page.getByTestId('save-trace-as-fixture-submit').click();
    await toast(page, 'of-traces');
    const { spec } = Object(await read(troupe, '/v1/eval/datasets/of-traces'));
    t.equal(spec.fixtures.length, 1);
    t.match(JSON.stringify(spec.fixtures), /What is new\?/);
  });

  t.test('a long trace is read whole, and only what is in view is made', async (t) => {
    const { page, go, asked } = await house.visit(t);
    await page.route('**/v1/traces/long-one?*', (route) => {
      const query = new URL(route.request().url()).searchParams;
      const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))];
      const found = Array.from({ length: EVENTS }, (_, at) => line(at)).slice(offset, offset + limit);
      return route.fulfill({ contentType: 'application/x-ndjson', body: `${found.join('\n')}\n` });
    });
    await go('/traces/long-one');
    await page.getByText(`2,500 events · 5,000 tokens in, 2,500 out · 2.5 s`).waitFor();
    t.equal(asked.filter((each) => each.includes('/v1/traces/long-one?')).length, 3);
    t.ok((await events(page).count()) < 60);
    await page.evaluate(`{
      const frame = document.querySelector('section[aria-label="Traces"]');
      frame.scrollTo({ top: frame.scrollHeight });
    }`);
    await page.getByRole('button', { name: 'call-2499' }).waitFor();
    t.ok((await events(page).count()) < 60);
  });
};
