import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ADMIN_TOKEN, eventually } from '../service/troupe.ts';
import type { House } from './visit.ts';

/** Datasets: import of conversations, eval runs and concurrent changes. */

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const toast = (page: Page, text: string) => page.getByRole('alert').getByText(text).first().waitFor();

export const onDatasets = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const call = (method: string, path: string, body?: object) => troupe.call(method, path, body, headers);
  const DATASET = '/v1/eval/datasets/talks';

  t.test('imports a conversation as a test case and compares eval runs', async (t) => {
    const { page, go, asked } = await house.visit(t, { noisy: true });
    await call('POST', '/v1/eval/datasets', { id: 'talks', spec: { description: '', fixtures: [] } });
    const threadId = 'talk-of-two';
    for (const content of ['First question', 'Second question'])
      await troupe.runToEnd({ agentId: 'default', threadId, messages: [{ role: 'user', content }] });
    await go('/datasets/talks');
    await button(page, 'Import a conversation').click();
    const dialog = page.getByRole('dialog', { name: 'Import a conversation' });
    const option = dialog
      .getByLabel('Thread')
      .locator('option')
      .filter({ hasText: /talk-of-two|First question/ });
    await dialog.getByLabel('Thread').selectOption(await option.getAttribute('value'));
    await dialog.getByRole('checkbox').nth(1).waitFor();
    await dialog.getByLabel('Test case ID (optional)').fill('two-turns');
    await dialog.getByRole('textbox').last().fill('Scripted');
    await button(page, 'Import').click();
    await toast(page, 'Conversation imported as test case "two-turns"');
    const { body } = await call('GET', DATASET);
    t.match(body, {
      spec: { fixtures: [{ id: 'two-turns', user_input: 'First question', continued_turns: { length: 1 } }] },
    });

    t.equal(
      await page.getByLabel('Compare with').count(),
      0,
      'an eval run without another one has no baseline',
    );
    await page.getByRole('button', { name: 'Run' }).first().click();
    await page.waitForURL(/\/eval-runs\/.+/);
    const first = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByText('100%').waitFor();
    await go('/datasets/talks');
    await page.getByText('1 of 1 passed', { exact: true }).waitFor();
    await page.getByLabel('Compare with').selectOption({ index: 1 });
    const sent = page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/v1/eval/runs'));
    await page.getByRole('button', { name: 'Run' }).first().click();
    t.match((await sent).postDataJSON(), { dataset_id: 'talks', mode: 'scripted', baseline_run_id: first });
    await page.waitForURL(`**/eval-runs/*?baseline=${first}`);
    await page.getByTestId('eval-diff-banner').waitFor();
    t.equal(await page.getByTestId('eval-diff-banner').getAttribute('data-verdict'), 'clean');
    await go(`/eval-runs/${first}?baseline=nope`);
    const title = page.getByRole('heading', { level: 1, name: /^talks · / });
    const crumb = page.getByRole('navigation', { name: 'Breadcrumb' }).locator('li[aria-current="page"]');
    await title.waitFor();
    t.equal(await crumb.textContent(), await title.textContent(), 'an eval run is named by dataset and time');
    await page.getByText('There is no eval run nope.').waitFor();
    await page.getByText('100%').waitFor();
    await go('/eval-runs/nope');
    await page.getByText('There is no eval run nope').waitFor();
    t.ok(asked.some((one) => one.includes('import-dialogue')));
  });

  t.test('runs test cases without recorded completions on models', async (t) => {
    const { page, go } = await house.visit(t);
    const fixtures = [{ id: 'f', user_input: 'Hello' }];
    await call('POST', '/v1/eval/datasets', { id: 'unrecorded', spec: { description: '', fixtures } });
    await go('/datasets/unrecorded');
    await page.getByText('Choose at least one model').waitFor();
    t.equal(await page.getByRole('combobox', { name: 'Answers' }).inputValue(), '1', 'live');
    await call('DELETE', '/v1/eval/datasets/unrecorded');
  });

  t.test('follows a running eval run and compares it once it has ended', async (t) => {
    const { page, go, asked, rest } = await house.visit(t);
    const fixtures = [{ id: 'f', user_input: 'Hello' }];
    await call('POST', '/v1/eval/datasets', { id: 'slowly', spec: { description: '', fixtures } });
    const play = async (): Promise<string> => {
      const request = { dataset_id: 'slowly', mode: 'live', models: ['slow'], async: true };
      const { body } = await call('POST', '/v1/eval/runs', request);
      await eventually(
        async () => troupe.models.waiting(),
        (count) => count === 1,
      );
      return Object(body.run).id;
    };
    const first = await play();
    await go(`/eval-runs/${first}`);
    await page.getByText('0 of 1 executed').waitFor();
    troupe.models.release();
    await page.getByText('100%').waitFor();
    const second = await play();
    await go(`/eval-runs/${second}?baseline=${first}`);
    await page.getByText('0 of 1 executed').waitFor();
    troupe.models.release();
    await page.getByTestId('eval-diff-banner').waitFor();
    t.equal(await page.getByTestId('eval-diff-banner').getAttribute('data-verdict'), 'clean');

    const other = await call('POST', '/v1/eval/runs', { dataset_id: 'slowly', mode: 'scripted' });
    const scripted = String(Object(other.body.run).id);
    const { length: before } = asked;
    await go(`/eval-runs/${second}?baseline=${scripted}`);
    await page.getByText('These runs cannot be compared').waitFor();
    await rest();
    t.strictSame(
      asked.slice(before).filter((line) => line.includes('baseline')),
      [],
      'the service would refuse to compare runs of two modes',
    );
    await call('DELETE', '/v1/eval/datasets/slowly');
  });

  t.test('merges concurrent changes of one test case', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/datasets/talks?fixture=two-turns');
    const form = page.getByRole('dialog').last();
    await form.getByLabel('User input').fill('Another question');
    const { body } = await call('GET', DATASET);
    const { spec, meta } = Object(body);
    const [fixture] = spec.fixtures;
    const theirs = {
      ...fixture,
      description: 'Of somebody else',
      expect: { ...fixture.expect, max_tokens_total: 99 },
    };
    const write = { expected_revision: meta.revision, spec: { ...spec, fixtures: [theirs] } };
    t.equal((await call('PUT', DATASET, write)).status, 200);
    await form.getByLabel('The answer contains (one per line)').fill('Scripted\nresponse');
    await button(page, 'Save').click();
    await button(page, 'Apply again').click();
    await toast(page, 'Dataset "talks" saved');
    t.match((await call('GET', DATASET)).body, {
      spec: {
        fixtures: [
          {
            user_input: 'Another question',
            description: 'Of somebody else',
            expect: { final_answer_contains: ['Scripted', 'response'], max_tokens_total: 99 },
          },
        ],
      },
    });
    await call('DELETE', DATASET);
  });

  t.test('asks before discarding a description and keeps it after a conflict', async (t) => {
    await call('POST', '/v1/eval/datasets', { id: 'told', spec: { description: 'As it was', fixtures: [] } });
    const { page, go, rest } = await house.visit(t, { noisy: true });
    await go('/datasets/told');
    const description = page.getByLabel('Description');
    await description.fill('Mine');
    await page.getByRole('link', { name: 'Datasets' }).first().click();
    await page.getByRole('dialog', { name: 'Discard unsaved changes?' }).waitFor();
    await button(page, 'Keep editing').click();
    const { meta } = Object((await call('GET', '/v1/eval/datasets/told')).body);
    const theirs = { expected_revision: meta.revision, spec: { description: 'Theirs', fixtures: [] } };
    t.equal((await call('PUT', '/v1/eval/datasets/told', theirs)).status, 200);
    // The page reads the dataset again after any change of it.
    const again = page.waitForResponse((one) => one.url().endsWith('/v1/eval/datasets/told'));
    await page.locator('input[type="file"]').setInputFiles({
      name: 'none.json',
      mimeType: 'application/json',
      buffer: Buffer.from('[]'),
    });
    await button(page, 'Discard my change').click();
    await again;
    await rest();
    t.equal(await description.inputValue(), 'Mine');
    await button(page, 'Save').click();
    await toast(page, 'Dataset "told" saved');
    await button(page, 'Save').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Datasets' }).first().click();
    await page.waitForURL((url) => url.pathname === '/datasets');
    t.match((await call('GET', '/v1/eval/datasets/told')).body, { spec: { description: 'Mine' } });
    await go('/datasets/told');
    await button(page, 'Actions of told').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button(page, 'Delete').click();
    await page.waitForURL((url) => url.pathname === '/datasets');
    t.equal((await call('GET', '/v1/eval/datasets/told')).status, 404);
  });

  t.test('keeps the filters of evaluations and tools in the address, and shows them as chips', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/tools?source=builtin');
    const row = page.locator('tbody tr[data-row]');
    await row.first().waitFor();
    await button(page, 'Source: built in').waitFor();
    await button(page, 'Filter').click();
    await page.getByLabel('only customized').check();
    await page.getByText('Nothing matches').waitFor();
    t.equal(new URL(page.url()).searchParams.get('customized'), 'true');
    await button(page, 'Clear all').click();
    await row.first().waitFor();
    t.equal(new URL(page.url()).search, '');

    await go('/audit-log');
    await row.first().waitFor();
    await button(page, 'Filter').click();
    for (const action of ['create', 'delete']) await page.getByLabel(action, { exact: true }).check();
    await button(page, 'Actions: create, delete').waitFor();
    await page.getByLabel('Range').selectOption({ label: 'last hour' });
    await button(page, 'Range: last hour').waitFor();
    t.strictSame(Object.fromEntries(new URL(page.url()).searchParams), {
      since: '1h',
      action: 'create,delete',
    });
  });
};
