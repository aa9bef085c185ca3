import type { Test } from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { asks } from '../service/models.ts';
import { type Site, visit } from './pages.ts';
import { click, ended, looks, say, shows, showsParagraphs, showsStatuses } from './user.ts';

/** Tests of the AG-UI page in a real browser, on a real service. */

export const testAgUiPage = (t: Test, site: Site): void => {
  t.test('shows reasoning, tools, completions and state, and the same after a reload', async (t) => {
    const { troupe, open, screenshot } = await visit(t, site);
    troupe.models.steps.push(looks);
    const page = await open('ag-ui-page', 'assistant');
    await say(page, 'hello');
    await shows(page, 'echo: hello');
    await shows(page, 'ready');
    const texts = ['hello', 'Let me look.', 'echo: hello'];
    await showsParagraphs(t, page, texts);
    await page.getByText('State', { exact: true }).click();
    await page.getByText('"status": "done"').waitFor();
    await screenshot(page, 'ag-ui-tool');
    await page.reload();
    await shows(page, 'echo: hello');
    await showsParagraphs(t, page, texts);
    await showsStatuses(t, page, ['done']);
    await say(page, 'more');
    await shows(page, 'echo: more');
  });

  for (const [button, executed] of [
    ['Approve', ['c1']],
    ['Deny', []],
  ] as const) {
    for (const reloads of [false, true]) {
      const when = reloads ? ', also on a page that was loaded since' : '';
      t.test(`shows a button "${button}" for a tool that needs approval${when}`, async (t) => {
        const { troupe, tools, open, screenshot } = await visit(t, site);
        troupe.models.steps.push(asks(['c1', 'risky', { path: '/tmp' }], ['c2', 'risky']));
        const page = await open('ag-ui-page', 'assistant');
        await say(page, 'do it');
        await page.getByText('waits for approval').first().waitFor();
        if (reloads) await page.reload();
        await screenshot(page, 'ag-ui-approval');
        await page.getByRole('button', { name: button }).first().click();
        await click(page, 'Deny');
        await shows(page, 'echo: do it');
        await shows(page, 'ready');
        t.strictSame(tools.executed, executed);
        t.equal(await page.getByRole('alert').count(), 0);
        await screenshot(page, `ag-ui-${button}`);
      });
    }
  }

  t.test('answers a tool executed by the page', async (t) => {
    const { troupe, open, screenshot } = await visit(t, site);
    troupe.models.steps.push(asks(['c1', 'askUserQuestion', { message: 'Which city?' }]));
    const page = await open('ag-ui-page', 'steps');
    await say(page, 'weather');
    await shows(page, 'waits for your answer');
    await page.getByLabel('Answer').fill('Tokyo');
    await screenshot(page, 'ag-ui-question');
    await click(page, 'Answer');
    await shows(page, 'echo: weather');
    await shows(page, 'ready');
    await showsStatuses(t, page, ['done']);
    t.match(JSON.stringify(troupe.models.requests.at(-1)?.request.messages.at(-1)), /Tokyo/);
  });

  /** A page that is reloaded during a run shows this, and can stop the run. */
  const reloadedInMidAnswer = async (t: Test) => {
    const visited = await visit(t, site);
    const page = await visited.open('ag-ui-page', 'slow');
    await say(page, 'hello');
    await shows(page, 'partial');
    await page.reload();
    await shows(page, 'hello');
    await shows(page, 'answers…');
    await page.getByRole('button', { name: 'Stop' }).waitFor();
    return { ...visited, page };
  };

  t.test('shows the whole response when reloaded during a run, and sends nothing until then', async (t) => {
    const { troupe, page } = await reloadedInMidAnswer(t);
    t.equal(await page.getByRole('button', { name: 'Send' }).count(), 0);
    await page.getByLabel('Message').fill('more');
    await page.getByLabel('Message').press('Enter');
    troupe.models.release();
    await shows(page, 'partial answer');
    await shows(page, 'ready');
    t.match(await ended(troupe), { termination_reason: { type: 'natural_end' } });
    await showsParagraphs(t, page, ['hello', 'partial answer']);
    await click(page, 'Send');
    await shows(page, 'partial');
    troupe.models.release();
    await showsParagraphs(t, page, ['hello', 'partial answer', 'more', 'partial answer']);
  });

  t.test('stops a run during which it was reloaded', async (t) => {
    const { troupe, page } = await reloadedInMidAnswer(t);
    await click(page, 'Stop');
    await shows(page, 'ready');
    t.match(await ended(troupe), { termination_reason: { type: 'cancelled' } });
    t.equal(await page.getByRole('alert').count(), 0);
  });

  t.test('stops its own run', async (t) => {
    const { troupe, open } = await visit(t, site);
    const page = await open('ag-ui-page', 'slow');
    await say(page, 'hello');
    await shows(page, 'partial');
    await click(page, 'Stop');
    await shows(page, 'ready');
    t.match(await ended(troupe), { termination_reason: { type: 'cancelled' } });
    t.equal(await page.getByRole('alert').count(), 0);
  });

  t.test('shows a failure', async (t) => {
    const { troupe, open } = await visit(t, site);
    troupe.models.steps.push(() => {
      throw new ModelError('invalid_request', 'the provider is down');
    });
    const page = await open('ag-ui-page', 'steps');
    await say(page, 'hello');
    await page.getByRole('alert').filter({ hasText: 'the provider is down' }).waitFor();
  });
};
