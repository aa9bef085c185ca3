import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import { asks } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';
import { ask, askWith, headers, read } from './ask.ts';
import type { House } from './visit.ts';

/** Traces: filters, totals, comparison, pinning, and test cases. */

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
    ...(at === 0 && { cost_usd: 0.05 }),
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

  t.test(
    'shows the outcome of the run next to failed calls, filters in the service, and compares',
    async (t) => {
      const failing = asks(['failing', 'failingTool', { reason: 'of the test' }]);
      const recovered = await askWith(troupe, traced.id, failing);
      await eventually(
        () => read(troupe, '/v1/traces?agent_id=observed'),
        ({ runs }) => Array.isArray(runs) && runs.length === 3,
      );
      const { page, go, asked } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
      await go('/traces?agent=observed');
      const row = rows(page).filter({ has: page.locator(`a[href="/traces/${recovered.run_id}"]`) });
      await row.getByText('Completed', { exact: true }).waitFor();
      await row.getByText('1 tool error').waitFor();
      t.equal(await rows(page).count(), 3);
      await button(page, 'Filter').click();
      await page.getByLabel('Outcome').selectOption('failed');
      await page.getByText('No row matches').waitFor();
      await page.getByLabel('Outcome').selectOption('completed');
      await page.getByLabel('Started within').selectOption('1h');
      await page.waitForURL(/since=1h/);
      await page.waitForLoadState('networkidle');
      t.ok(
        asked.some((each) =>
          /run=true&agent_id=observed&since=20.*outcome=completed.*stored=true/.test(each),
        ),
      );
      await page.getByLabel('Variant').pressSequentially('nobody', { delay: 1 });
      await page.getByText('Clear filters').waitFor();
      t.equal(await page.evaluate('document.activeElement.value'), 'nobody', 'the focus stays in the field');
      await page.keyboard.press('Escape');
      await button(page, 'Clear filters').click();
      await page.getByRole('searchbox').fill('what is NEW');
      await row.waitFor({ state: 'detached' });
      await page.locator(`a[href="/traces/${other.run_id}"]`).waitFor();
      await go('/traces?agent=observed');
      await page.locator(`a[href="/traces/${one.run_id}"]`).waitFor();

      await page.locator('thead [data-check]').hover();
      for (const { run_id } of [one, other]) await page.getByLabel(`Select ${run_id}`).check();
      await button(page, 'Keep trace').click();
      await toast(page, '2 traces do not expire');
      await button(page, 'Compare').click();
      await page.waitForURL(/\/traces\/.*with=/);
      const traces = page.getByRole('region', { name: /^Trace / });
      await events(page).nth(3).waitFor();
      const names = async (at: number) =>
        (await events(traces.nth(at)).allTextContents()).map(
          (text) => /Run|Queue|Inference|Tool/.exec(text)?.[0],
        );
      t.strictSame(
        [await names(0), await names(1)].sort((a, b) => a.length - b.length),
        [
          ['Run', 'Queue', 'Inference'],
          ['Run', 'Queue', 'Inference', 'Tool', 'Inference'],
        ],
        'one run has an inference, the other a call between two inferences',
      );
      await page.getByRole('button', { name: /^Tool get_weather/ }).click();
      await page.getByTestId('span-panel').getByText('Oslo').first().waitFor();
      await button(page, 'Show one').click();
      await page.waitForURL(/\/runs\//);
      await page.getByTestId('run-timeline').waitFor();
    },
  );

  t.test('shows a run without a trace as a run, and reports a run that does not exist', async (t) => {
    const { run_id } = await ask(troupe, 'echo', 'Unobserved');
    const { page, go } = await house.visit(t, { noisy: true });
    await go(`/traces/${run_id}`);
    await page.waitForURL(`**/runs/${run_id}`);
    await page.getByTestId('run-timeline').waitFor();
    t.equal(await page.getByTestId('save-trace-as-fixture-button').count(), 0);
    await go('/traces/nope');
    await page.getByText('There is no run nope').waitFor();
  });

  t.test('creates a test case from a trace with two clicks', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/traces');
    await page.getByRole('button', { name: `Actions of ${other.run_id}` }).click();
    await page.getByRole('menuitem', { name: 'Save as test case' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox').first().fill('of-traces');
    await dialog.getByRole('textbox').last().fill('echo');
    await page.getByTestId('save-trace-as-fixture-submit').click();
    await toast(page, 'of-traces');
    const { spec } = Object(await read(troupe, '/v1/eval/datasets/of-traces'));
    t.equal(spec.fixtures.length, 1);
    t.match(JSON.stringify(spec.fixtures), /What is new\?/);
  });

  t.test('reads a long trace completely and renders only its visible part', async (t) => {
    const { page, go, asked } = await house.visit(t, { noisy: true });
    await page.route('**/v1/traces/long-one?*', (route) => {
      const query = new URL(route.request().url()).searchParams;
      const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))];
      const found = Array.from({ length: EVENTS }, (_, at) => line(at)).slice(offset, offset + limit);
      return route.fulfill({ contentType: 'application/x-ndjson', body: `${found.join('\n')}\n` });
    });
    await go('/traces/long-one');
    await page.getByRole('button', { name: 'Run, 2.5 s' }).click();
    await page.getByRole('cell', { name: '$0.05' }).waitFor();
    t.equal(asked.filter((each) => each.includes('/v1/traces/long-one?')).length, 3);
    t.ok((await events(page).count()) < 60);
    await page.evaluate(`{
      const frame = document.querySelector('section[aria-label="Timeline"]');
      frame.scrollTo({ top: frame.scrollHeight });
    }`);
    await page.getByRole('button', { name: /call-2499/ }).waitFor();
    t.ok((await events(page).count()) < 60);
  });
};
