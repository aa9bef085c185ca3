import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { says } from '../service/agent-loop/agents.ts';
import { asks } from '../service/models.ts';
import { ADMIN_TOKEN, type Troupe } from '../service/troupe.ts';
import { askWith } from './ask.ts';
import { becomesTrue, type House } from './visit.ts';

/** The screen of a run: its progress, waits, history and actions. */

const ASKING = {
  id: 'asks-for-all',
  model_id: 'priced',
  system_prompt: 'Asks',
  plugin_ids: ['permission'],
  max_rounds: 2,
  sections: { permission: { default_behavior: 'ask', rules: [] } },
};

const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** Starts a run and waits until it is suspended or has ended. @returns its id */
const runOf = async (troupe: Troupe, agentId: string, content: string): Promise<string> => {
  const response = await fetch(`${troupe.url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agentId, messages: [{ role: 'user', content }] }),
  });
  return /"run_id":"([^"]+)"/.exec(await response.text())?.[1] ?? '';
};

const EVENTS = 4000;
const SAID = 1000;

/** An event of a run that calls a tool repeatedly. */
const eventAt = (at: number) => {
  const isReady = at % 2 === 1;
  const kind = isReady ? 'ToolCallReady' : 'ToolCallDone';
  const [first, last] = [at === 0, at === EVENTS - 1];
  const call = { id: `c${Math.ceil(at / 2)}`, name: 'search', arguments: {}, outcome: 'succeeded' };
  return {
    event_id: `e${at}`,
    event_kind: first ? 'RunQueued' : last ? 'RunFinished' : kind,
    payload: call,
    created_at: 1_700_000_000_000 + at,
    cursors_by_scope: [{ scope: { scope_type: 'run' }, cursor: `${at + 1}` }],
  };
};

const chart = (page: Page, state: string) =>
  page.locator(`[data-testid="run-statechart"][data-state="${state}"]`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

export const onRunDetail = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const priced = {
    id: 'priced',
    provider_id: 'default',
    upstream_model: 'upstream-priced',
    input_token_price_per_million_usd: 1000,
    output_token_price_per_million_usd: 2000,
  };
  await troupe.call('POST', '/v1/config/models', priced, headers);
  await troupe.call('POST', '/v1/config/agents', ASKING, headers);

  t.test('shows a waiting run, its decision, its end and each earlier moment', async (t) => {
    const id = await runOf(troupe, 'asks-for-all', 'RUN_WEATHER_TOOL');
    const { page, go, asked } = await house.visit(t, { viewport: { width: 1440, height: 1000 } });
    await go(`/runs/${id}`);
    await chart(page, 'waiting').waitFor();
    await page.getByText('Approval needed').waitFor();
    await page.evaluate(`{
      const seen = (window.seen = []);
      const chart = document.querySelector('[data-testid="run-statechart"]');
      new MutationObserver(() => seen.push(chart.dataset.path)).observe(chart, { attributes: true });
    }`);
    await button(page, 'Approve').click();
    await chart(page, 'done').waitFor();
    await page.getByTestId('run-status').getByText('Stopped: max rounds').waitFor();
    // A busy page renders only some of the states.
    t.match(
      await page.evaluate('window.seen.join()'),
      /^(running|ending|completed)/,
      'the view followed the run without a reload',
    );
    t.ok(await page.locator('[data-testid="run-statechart"] [data-passed]').count());

    // Selecting a row shows its details and does not travel in time.
    const timeline = page.getByTestId('run-timeline');
    const panel = page.getByTestId('span-panel');
    await timeline
      .getByRole('button', { name: /^Tool get_weather/ })
      .first()
      .click();
    await panel.getByText('Waited', { exact: true }).waitFor();
    await panel.getByText('Statechart').click();
    const part = page.getByTestId('part-statechart');
    await part.locator('[data-passed]').first().waitFor();
    t.equal(await part.getAttribute('data-state'), 'succeeded');
    await chart(page, 'done').waitFor();
    t.equal(await page.locator('[data-span][data-later]').count(), 0);
    await timeline
      .getByRole('button', { name: /^Queue/ })
      .first()
      .click();
    await panel.getByText('Statechart').click();
    await page.locator('[data-testid="part-statechart"][data-state="acked"]').waitFor();
    await page.getByTestId('time-travel-slider').press('Home');
    await page.locator('[data-span][data-later]').first().waitFor();
    t.ok(await timeline.getByRole('button', { name: /^Tool get_weather/ }).count(), 'later rows are dimmed');

    await button(page, 'Events').click();
    await page.getByLabel('Kind').selectOption('MailboxDecisionReceived');
    await page.getByRole('button', { name: /MailboxDecisionReceived/ }).click();
    await chart(page, 'waiting').waitFor();
    await page.getByText('"decision_id"').waitFor();
    await button(page, 'Conversation').click();
    const messages = page.getByTestId('run-conversation').locator(':scope > li');
    const then = await messages.count();
    const slider = page.getByTestId('time-travel-slider');
    await slider.press('Home');
    await chart(page, 'created').waitFor();
    await button(page, 'Follow live').click();
    await chart(page, 'done').waitFor();
    t.ok((await messages.count()) > then, 'the conversation ends at the selected moment');

    await button(page, 'Timeline').click();
    await timeline.getByRole('button', { name: /^Run asks-for-all/ }).click();
    // Two inferences of 10 and 5 tokens: 2 × (10 × 1000 + 5 × 2000) / 1,000,000 USD.
    await panel.getByRole('cell', { name: '$0.04' }).first().waitFor();
    await page.waitForLoadState('networkidle');
    const streams = asked.filter((one) => one.includes('/events/stream'));
    t.equal(streams.length, 1, 'the stream of the run is closed after its end');
  });

  t.test('explains a failed run in two clicks from the dashboard', async (t) => {
    const fails = (kind: 'overloaded' | 'unauthorized', detail: string) => async (): Promise<never> => {
      throw new ModelError(kind, detail);
    };
    const retry = { max_retries: 1, backoff_base_ms: 1, overloaded_backoff_base_ms: 1 };
    const troubled = { id: 'troubled', model_id: 'steps', system_prompt: 'Be brief.', sections: { retry } };
    await troupe.call('POST', '/v1/config/agents', troubled, headers);
    const { run_id } = await askWith(
      troupe,
      troubled.id,
      fails('overloaded', 'busy'),
      fails('unauthorized', 'the key is wrong'),
    );
    const { page, go } = await house.visit(t);
    await go('/');
    await page.getByRole('navigation').getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByTestId(`run-row-${run_id}`).click();
    const notice = page.getByRole('alert').filter({ hasText: 'Inference 1 failed after 2 attempts' });
    await notice.getByText('unauthorized: the key is wrong').waitFor();
    const provider = notice.getByRole('link', { name: 'Open provider test' });
    t.equal(await provider.getAttribute('href'), '/providers?edit=test', 'the one that refused the key');
    const timeline = page.getByTestId('run-timeline');
    await timeline.getByRole('button', { name: /^Inference attempt 1, / }).click();
    const panel = page.getByTestId('span-panel');
    await panel.getByText('provider overloaded: busy').waitFor();
    await panel.getByText('Be brief.').waitFor();
    await panel.getByText('What is the weather?').waitFor();
    await page.getByText('Cost', { exact: true }).locator('..').getByText('—').waitFor();
  });

  t.test('nests the run of a delegate, and shows what each model received and returned', async (t) => {
    const writer = { id: 'writer', model_id: 'steps', system_prompt: 'You write poems.' };
    const lead = { id: 'lead', model_id: 'steps', system_prompt: 'You delegate.', delegates: ['writer'] };
    for (const agent of [writer, lead]) await troupe.call('POST', '/v1/config/agents', agent, headers);
    const { run_id } = await askWith(
      troupe,
      lead.id,
      asks(['d', 'agent_run_writer', { prompt: 'A poem, please' }]),
      says('Roses are red'),
      says('Here it is'),
    );
    const { page, go } = await house.visit(t);
    await go(`/runs/${run_id}`);
    const timeline = page.getByTestId('run-timeline');
    const panel = page.getByTestId('span-panel');
    await panel.getByText('Here it is').waitFor();
    await timeline.getByRole('button', { name: /^Run writer/ }).waitFor();
    t.equal(await timeline.getByRole('button', { name: /^Inference/ }).count(), 3);
    await becomesTrue(
      page,
      `(() => {
      const boxes = [...document.querySelectorAll('[data-span]')].map((row) => row.getBoundingClientRect());
      return boxes.every(({ top }, at) => at === 0 || top >= boxes[at - 1].bottom - 1);
    })()`,
    );
    await timeline
      .getByRole('button', { name: /^Inference/ })
      .nth(1)
      .click();
    await panel.getByText('Roses are red').waitFor();
    await panel.getByRole('button', { name: 'Input', exact: true }).click();
    await panel.getByText('You write poems.').waitFor();
    await panel.getByText('A poem, please').first().waitFor();
    await panel.getByText(/^\d+ tools$/).click();
    await panel.getByPlaceholder('Filter tools…').fill('get_weather');
    await panel.getByRole('button', { name: 'get_weather', exact: true }).click();
    await panel.getByText('"properties"').waitFor();
    await timeline.getByRole('button', { name: 'Collapse writer' }).click();
    await timeline.getByRole('button', { name: /^Run writer/ }).waitFor({ state: 'detached' });
    await timeline.getByRole('button', { name: /^Delegate writer/ }).press('ArrowUp');
    t.match(await page.evaluate('document.activeElement.ariaLabel'), /^Inference/);
    await timeline.getByRole('button', { name: /^Delegate writer/ }).click();
    await panel.getByRole('link', { name: 'Open the run of the delegate' }).click();
    await page.getByText('Another agent').waitFor();
    t.match(await page.getByRole('link', { name: /^\d+$/ }).getAttribute('href'), /^\/audit-log\?resource=/);
  });

  t.test('resumes an interrupted or expired log without gaps', async (t) => {
    const id = await runOf(troupe, 'asks-for-all', 'RUN_WEATHER_TOOL');
    const { page, go } = await house.visit(t, { noisy: true });
    let refusals = 0;
    await page.route('**/events/stream*', (route) => {
      refusals += 1;
      if (refusals === 1) return route.abort();
      if (refusals === 2) return route.fulfill({ status: 410, json: { error: 'cursor expired' } });
      return route.continue();
    });
    await go(`/runs/${id}?tab=events`);
    await page.getByText('The service has removed older events').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    const { body } = await troupe.call('GET', `/v1/runs/${id}/events?limit=200`, undefined, headers);
    const before = Object(body).items.length;
    await page.getByText(`${before} events`).waitFor();
    await troupe.call('POST', `/v1/runs/${id}/cancel`, undefined, headers);
    await chart(page, 'done').waitFor();
    await page.getByText('Complete', { exact: true }).waitFor();
    const after = await troupe.call('GET', `/v1/runs/${id}/events?limit=200`, undefined, headers);
    await page.getByText(`${Object(after.body).items.length} events`).waitFor();
    await go('/runs/no-such-run');
    await page.getByText('run not found').waitFor();
  });

  t.test('opens no stream in a hidden page', async (t) => {
    const id = await runOf(troupe, 'asks-for-all', 'RUN_WEATHER_TOOL');
    const { page, go, asked, rest } = await house.visit(t);
    const streams = () => asked.filter((one) => /v1.*stream/.test(one));
    const show = (state: string) =>
      page.evaluate(`{
        Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }`);
    await go('/skills');
    await show('hidden');
    await go(`/runs/${id}`);
    await page.getByText('Approval needed').waitFor();
    await rest();
    t.strictSame(streams(), []);
    await show('visible');
    await chart(page, 'waiting').waitFor();
    await rest();
    t.equal(streams().length, 2);
    const letGo = Promise.all(
      ['/events/stream', '/actors/stream'].map((path) =>
        page.waitForEvent('requestfailed', (one) => one.url().includes(path)),
      ),
    );
    await show('hidden');
    await letGo;
    await troupe.call('POST', `/v1/runs/${id}/cancel`, undefined, headers);
    await show('visible');
    await chart(page, 'done').waitFor();
  });

  t.test('denies, interrupts and repeats a run', async (t) => {
    const waiting = await runOf(troupe, 'asks-for-all', 'RUN_WEATHER_TOOL');
    const { page, go } = await house.visit(t);
    await go(`/runs/${waiting}`);
    await chart(page, 'waiting').waitFor();
    await button(page, 'Deny').click();
    await page.getByLabel('Reason (optional)').fill('too wet');
    await button(page, 'Deny').click();
    await chart(page, 'done').waitFor();
    await button(page, 'Events').click();
    await page.getByLabel('Kind').selectOption('MailboxDecisionReceived');
    await page.getByRole('button', { name: /cancel · .*~admin.* · too wet/ }).waitFor();

    await button(page, 'Run again').click();
    const dialog = page.getByRole('dialog');
    t.equal(await dialog.getByLabel('Message', { exact: true }).inputValue(), 'RUN_WEATHER_TOOL');
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.endsWith(waiting));
    await chart(page, 'waiting').waitFor();
    await button(page, 'Conversation').click();
    const conversation = page.getByTestId('run-conversation');
    await conversation.getByText('No result yet', { exact: true }).waitFor();
    await button(page, 'Interrupt thread').click();
    await page.getByText('Interrupted; 0 dispatches').waitFor();
    await chart(page, 'done').waitFor();
    await conversation.getByText('No result', { exact: true }).waitFor();
  });

  t.test('renders only the visible part of a long conversation at each moment', async (t) => {
    const id = await runOf(troupe, 'default', 'Hello');
    const { page, go, rest } = await house.visit(t);
    const seqs = Array.from({ length: SAID }, (_, at) => at + 1);
    const committed = (seq: number) => ({
      ...eventAt(seq),
      event_kind: 'MessageCommitted',
      payload: { message_seq: seq },
    });
    const saidAt = (seq: number) => ({
      id: `m${seq}`,
      role: seq % 2 === 1 ? 'assistant' : 'tool',
      content: [{ type: 'text', text: `Said ${seq}` }],
      tool_calls: seq % 2 === 1 ? [{ id: `c${seq}`, name: 'search', arguments: { seq } }] : [],
      seq,
      created_at: seq,
    });
    await page.route(`**/v1/runs/${id}/events?*`, (route) =>
      route.fulfill({ json: { items: [...seqs.map(committed), eventAt(EVENTS - 1)], has_more: false } }),
    );
    await page.route('**/v1/threads/*/messages?*', (route) =>
      route.fulfill({ json: { messages: seqs.map(saidAt), has_more: false } }),
    );
    await go(`/runs/${id}?tab=conversation`);
    const messages = page.getByTestId('run-conversation').locator(':scope > li');
    await messages.first().waitFor();
    t.ok((await messages.count()) < 40);
    const toEnd = async (): Promise<void> => {
      await page.evaluate(`{
        const frame = document.querySelector('section[aria-label="Conversation"]');
        frame.scrollTo({ top: frame.scrollHeight });
      }`);
      await rest();
    };
    await toEnd();
    await toEnd();
    await page.getByText(`Said ${SAID}`, { exact: true }).waitFor();
    const slider = page.getByTestId('time-travel-slider');
    await slider.press('Home');
    await page.getByText('Said 1', { exact: true }).waitFor();
    t.equal(await messages.count(), 1);
    await slider.press('ArrowRight');
    await page.getByText('Said 2', { exact: true }).waitFor();
    t.equal(await messages.count(), 2);
  });

  t.test('renders only the visible events and bars of a long run', async (t) => {
    const id = await runOf(troupe, 'default', 'Hello');
    const { page, go } = await house.visit(t);
    await page.route(`**/v1/runs/${id}/events?*`, (route) => {
      const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
      const items = Array.from({ length: Math.min(200, EVENTS - from) }, (_, at) => eventAt(from + at));
      return route.fulfill({ json: { items, has_more: from + items.length < EVENTS } });
    });
    await go(`/runs/${id}`);
    const bars = page.getByTestId('run-timeline').getByRole('button', { name: /^Tool/ });
    await bars.first().waitFor();
    await page.getByText('RunFinished').first().waitFor();
    t.ok((await bars.count()) < 60);
    await button(page, 'Events').click();
    await page.getByText('4,000 events').waitFor();
    const rows = page.getByRole('region', { name: 'Events' }).getByRole('button', { name: /ToolCall/ });
    t.ok((await rows.count()) < 60);
    await page.getByTestId('time-travel-slider').press('End');
    await page.evaluate(`{
      const frame = document.querySelector('section[aria-label="Events"]');
      frame.scrollTo({ top: frame.scrollHeight });
    }`);
    await page.getByRole('button', { name: /RunFinished/ }).waitFor();
    t.ok((await rows.count()) < 60);
  });
};
