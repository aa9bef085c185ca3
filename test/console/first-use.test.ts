import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import { type House, startHouse } from './visit.ts';

/** The first minutes with a new service: the link that signs in, and the guide on the dashboard. */

const step = (page: Page, name: string) => page.locator(`li[data-step="${name}"]`);
const isDone = (page: Page, name: string) => page.locator(`li[data-step="${name}"][data-done]`);
const heading = (page: Page, name: string) => step(page, name).getByRole('heading').getByRole('button');
const open = async (page: Page, name: string): Promise<void> => {
  await heading(page, name).waitFor();
  if ((await heading(page, name).getAttribute('aria-expanded')) === 'false')
    await heading(page, name).click();
};
const stored = (page: Page, key: string) => page.evaluate(`localStorage.getItem('${key}')`);
const link = ({ troupe }: House): string => `${troupe.url}/#token=${ADMIN_TOKEN}`;
const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** Requests that only the guide sends. */
const guideReads = (asked: readonly string[]): string[] =>
  asked.filter((request) => /\/v1\/(runs\?limit=1$|config\/agents\/meta)/.test(request));

const SMALL = { width: 390, height: 844 };

/** Serious and critical violations in both themes. */
const barriers = async (page: Page): Promise<unknown> => {
  await page.evaluate(axe.source);
  const found: unknown[] = [];
  for (const theme of ['light', 'dark']) {
    await page.evaluate(`document.documentElement.dataset.theme = '${theme}';
      for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();`);
    found.push(
      await page.evaluate(`axe.run(document, { rules: { 'label-content-name-mismatch': { enabled: false } } })
        .then(({ violations }) => violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, nodes }) => '${theme} ' + id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join('; ')))`),
    );
  }
  return found.flat();
};

const KEY = 'sk-of-the-house-1234';
/** Rejected with 400, as by some services, and not with 401. */
const MALFORMED_KEY = 'sk-malformed';

/** A provider with the API of OpenAI, which accepts one key and returns one text. */
const startProvider = async (t: Test): Promise<{ url: string }> => {
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    if (authorization !== `Bearer ${KEY}`) {
      const status = authorization === `Bearer ${MALFORMED_KEY}` ? 400 : 401;
      return void response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    }
    if (request.url === '/v1/models') {
      const data = ['house/Small-1', 'house/large-1', 'gpt-4o'].map((id) => ({ id }));
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ data }));
    }
    const delta = { role: 'assistant', content: 'Hello from the provider' };
    const chunk = (more: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...more }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${chunk({ delta })}${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1` };
};

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  const house = await startHouse(t);
  const { troupe } = house;
  const get = (path: string) => troupe.call('GET', path, undefined, headers);

  await t.test('streams the first response within three actions after the start', async (t) => {
    const { page, said } = await house.visit(t, { moves: true, token: null });
    let actions = 0;
    const act = async (action: () => Promise<unknown>): Promise<void> => {
      actions += 1;
      await action();
    };
    let programs = 0;
    page.on('response', (answer) => {
      if (answer.url().endsWith('.js')) programs += Number(answer.headers()['content-length']);
    });
    await act(() => page.goto(link(house)));
    await step(page, 'hello').getByRole('button', { name: 'Hello', exact: true }).waitFor();
    t.ok(programs > 0 && programs <= 250 * 1024, `${programs} bytes of programs, compressed`);
    t.equal(page.url(), `${troupe.url}/`, 'the token is not in the address');
    await act(() => step(page, 'hello').getByRole('button', { name: 'Hello', exact: true }).click());
    await step(page, 'hello').getByText('Scripted response to: Hello').waitFor();
    t.ok(actions <= 3, `${actions} actions`);
    await isDone(page, 'hello').waitFor();
    t.equal(await stored(page, 'troupe.adminToken'), ADMIN_TOKEN);
    t.notOk(
      said.some((text) => text.includes(ADMIN_TOKEN) && text !== link(house)),
      'only the address of the link contains the token',
    );
    await page.reload();
    await isDone(page, 'hello').waitFor();
    t.equal(await page.getByText('1 of 4 steps done').count(), 1);
  });

  await t.test('answers the question about the weather with the result of one call', async (t) => {
    const { page, go } = await house.visit(t, { moves: true });
    await go('/');
    await open(page, 'hello');
    await step(page, 'hello').getByRole('button', { name: 'How is the weather in Tokyo?' }).click();
    await step(page, 'hello').getByText('It is sunny in Tokyo').waitFor();
    await step(page, 'hello').getByText('get_weather').first().waitFor();
    await step(page, 'hello').getByRole('link', { name: 'Continue in the playground' }).click();
    await page.waitForURL('**/playground?agent=default&thread=*');
    await page.getByText('It is sunny in Tokyo').first().waitFor();
  });

  await t.test('replays the newest run in its chart', async (t) => {
    const { page, go } = await house.visit(t, { moves: true });
    await go('/');
    await open(page, 'watch');
    await step(page, 'watch').locator('svg [data-state][data-lit]').first().waitFor();
    await page.getByTestId('guide-state').getByText('completed').waitFor();
    await isDone(page, 'watch').waitFor();
    await step(page, 'watch').getByRole('button', { name: 'Replay' }).click();
    await page.getByTestId('guide-state').getByText('running').waitFor();
    await page.reload();
    await isDone(page, 'watch').waitFor();
  });

  await t.test('is accessible, fits into a small window and works with the keyboard', async (t) => {
    const { page, go } = await house.visit(t, { moves: true });
    await go('/');
    for (const name of ['hello', 'model', 'agent', 'watch']) {
      if ((await heading(page, name).getAttribute('aria-expanded')) === 'false') {
        await heading(page, name).focus();
        await page.keyboard.press('Enter');
      }
      await step(page, name).locator('p').first().waitFor();
      t.strictSame(await barriers(page), [], name);
      await page.setViewportSize(SMALL);
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), SMALL.width, `small ${name}`);
      await page.setViewportSize({ width: 1280, height: 720 });
    }
    await heading(page, 'hello').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await step(page, 'hello').getByText('Scripted response to: Hello').waitFor();
  });

  await t.test('shows the guide in Chinese', async (t) => {
    const { page, go } = await house.visit(t, { moves: true, stored: { 'troupe.admin.locale': 'zh-CN' } });
    await go('/');
    await open(page, 'hello');
    await step(page, 'hello').getByRole('button', { name: '东京的天气怎么样？' }).click();
    await step(page, 'hello').getByText('It is sunny in Tokyo').waitFor();
  });

  await t.test('can be dismissed, and returns from the help menu', async (t) => {
    const { page, go, asked, rest } = await house.visit(t, { moves: true });
    await go('/');
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await step(page, 'hello').waitFor({ state: 'detached' });
    const before = asked.length;
    await page.reload();
    await page.getByRole('heading', { name: /^Now/ }).waitFor();
    await rest();
    t.equal(await step(page, 'hello').count(), 0);
    t.strictSame(guideReads(asked.slice(before)), [], 'a dismissed guide reads nothing');
    await go('/agents');
    await page.getByRole('button', { name: 'Help', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Get started' }).click();
    await step(page, 'hello').waitFor();
    t.match(page.url(), /\/$/);
  });

  await t.test('gets the response of a new agent within twelve actions after the start', async (t) => {
    const provider = await startProvider(t);
    const { page, said, asked } = await house.visit(t, { moves: true, token: null });
    let actions = 0;
    const act = async (action: () => Promise<unknown>): Promise<void> => {
      actions += 1;
      await action();
    };
    const model = step(page, 'model');
    await act(() => page.goto(link(house)));
    await act(() => open(page, 'model'));
    await act(() => model.getByRole('button', { name: 'OpenAI-compatible server' }).click());
    await act(() => model.getByLabel('Base URL').fill(provider.url));
    await act(() => model.locator('input[type="password"]').fill(KEY));
    await act(() => model.getByRole('checkbox', { name: 'house/Small-1' }).check());
    await act(() => model.getByRole('button', { name: 'Connect', exact: true }).click());
    await act(() => model.getByRole('button', { name: 'Hello', exact: true }).click());
    await model.getByText('Hello from the provider').waitFor();
    t.ok(actions <= 12, `${actions} actions`);
    await isDone(page, 'model').waitFor();
    await isDone(page, 'agent').waitFor();
    t.match((await get('/v1/config/models/small-1')).body, {
      provider_id: 'openai-compatible-server',
      upstream_model: 'house/Small-1',
    });
    t.match((await get('/v1/config/agents/small-1')).body, { model_id: 'small-1' });
    const created = asked.filter((request) => request.startsWith('POST /v1/config/'));
    t.strictSame(
      created,
      ['providers', 'models', 'agents'].map((part) => `POST /v1/config/${part}`),
      'one click creates each entry once',
    );
    t.notMatch(said.join('\n'), KEY, 'no address and no message contains the key');
    t.notMatch(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })'), KEY);
  });

  await t.test('sends the key to no part of an address', async (t) => {
    const provider = await startProvider(t);
    const { page, go, asked, rest } = await house.visit(t, { moves: true });
    const previews = (): number =>
      asked.filter((request) => request.endsWith('/v1/providers/preview')).length;
    /** Longer than the pause that starts a test. */
    const pause = async (): Promise<void> => {
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 700))');
      await rest();
    };
    await go('/models');
    await page.getByRole('button', { name: 'Connect a model' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect a model' });
    await dialog.getByRole('button', { name: 'OpenAI', exact: true }).click();
    await dialog.locator('input[type="password"]:focus').waitFor();
    await dialog.getByText('Base URL').first().click();
    const address = dialog.getByLabel('Base URL');
    await address.fill(new URL(provider.url).origin);
    await dialog.locator('input[type="password"]').fill(KEY);
    await dialog.getByRole('status').getByText('does not list its models').waitFor();
    const before = previews();
    await address.press('End');
    await address.pressSequentially('/v');
    await pause();
    t.equal(previews(), before, 'a part of the address is not tested');
    t.equal(await dialog.getByRole('checkbox').count(), 0, 'models of another address are not offered');
    await address.pressSequentially('1');
    const sent = page.waitForRequest('**/v1/providers/preview');
    await address.blur();
    t.match((await sent).postDataJSON(), { base_url: provider.url, api_key: KEY });
    await dialog.getByText('lists 3 models').waitFor();
    t.equal(previews(), before + 1);
  });

  await t.test('never stores a rejected key, and continues after a failure', async (t) => {
    const provider = await startProvider(t);
    const { page, go, asked } = await house.visit(t, { moves: true, noisy: true });
    await go('/models');
    await page.getByRole('button', { name: 'Connect a model' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect a model' });
    await dialog.getByRole('button', { name: 'OpenAI', exact: true }).click();
    await dialog.getByText('Base URL').first().click();
    await dialog.getByLabel('Base URL').fill('nowhere');
    await dialog.getByText('An address that begins with').waitFor();
    await dialog.getByLabel('Base URL').fill(provider.url);
    await dialog.locator('input[type="password"]').fill('sk-wrong');
    await dialog.getByText('Key rejected (401)').waitFor();
    await dialog.locator('input[type="password"]').fill(MALFORMED_KEY);
    await dialog.getByText('Key rejected (400)').waitFor();
    t.equal(await dialog.getByRole('button', { name: 'Connect', exact: true }).count(), 0);
    await dialog.locator('input[type="password"]').fill(KEY);
    await dialog.getByText('lists 3 models').waitFor();
    await dialog.getByLabel('Search for a model').fill('GPT');
    t.match(
      await dialog.getByRole('checkbox').first().locator('..').textContent(),
      /^gpt-4o128K tokens\$2\.50 \/ \$10\.00$/,
    );
    await dialog.getByRole('checkbox', { name: 'gpt-4o' }).check();
    await page.route('**/v1/config/models', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 500, json: { error: 'the disk is full' } })
        : route.fallback(),
    );
    let proceed = (): void => {};
    const isAllowed = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    await page.route('**/v1/config/providers', async (route) => {
      if (route.request().method() === 'POST') await isAllowed;
      await route.fallback();
    });
    const before = asked.length;
    await dialog.getByRole('button', { name: 'Connect', exact: true }).dblclick();
    await dialog.getByRole('button', { name: 'Connecting…' }).waitFor();
    t.ok(await dialog.locator('input[type="password"]').isDisabled(), 'the key cannot be changed');
    t.ok(await dialog.getByLabel('Base URL').isDisabled(), 'the address cannot be changed');
    t.ok(
      await dialog.getByRole('button', { name: 'Other provider' }).isDisabled(),
      'the provider cannot be changed',
    );
    proceed();
    await dialog.getByRole('alert').getByText('model gpt-4o: the disk is full').waitFor();
    await dialog.getByRole('alert').getByText('Created: provider openai.').waitFor();
    t.equal(asked.slice(before).filter((request) => request === 'POST /v1/config/providers').length, 1);
    t.ok(await dialog.locator('input[type="password"]').isDisabled(), 'the stored provider is not changed');
    await page.unroute('**/v1/config/models');
    await page.unroute('**/v1/config/providers');
    await dialog.getByRole('button', { name: 'Retry' }).click();
    await dialog.getByRole('heading', { name: 'Connected: gpt-4o' }).waitFor();
    t.equal(asked.filter((request) => request === 'POST /v1/config/providers').length, 1);
    t.equal((await get('/v1/config/agents/gpt-4o')).status, 200);
    await dialog.getByRole('link', { name: 'Say hello' }).click();
    await page.waitForURL('**/playground?agent=gpt-4o');
  });

  await t.test(
    'connects several models at once with the keyboard, and keeps them when one fails',
    async (t) => {
      const provider = await startProvider(t);
      const { page, go, asked } = await house.visit(t, { moves: true, noisy: true });
      await go('/models?connect=1');
      const dialog = page.getByRole('dialog', { name: 'Connect a model' });
      await dialog.getByRole('button', { name: 'OpenAI', exact: true }).click();
      await dialog.getByText('Base URL').first().click();
      await dialog.getByLabel('Base URL').fill(provider.url);
      await dialog.locator('input[type="password"]').fill(KEY);
      const search = dialog.getByLabel('Search for a model');
      await search.waitFor();
      for (const name of ['house/Small-1', 'house/large-1', 'gpt-4o']) {
        await dialog.getByRole('checkbox', { name }).focus();
        await page.keyboard.press('Space');
      }
      await search.fill('of-the-house');
      await dialog.getByRole('checkbox', { name: 'Use “of-the-house”' }).focus();
      await page.keyboard.press('Space');
      await search.fill('');
      await dialog.getByRole('checkbox', { name: 'of-the-house', checked: true }).waitFor();
      await dialog.getByLabel('Model of the agent').selectOption('gpt-4o');
      await dialog.getByText('IDs', { exact: true }).click();
      await dialog.getByLabel('Model ID of house/large-1').fill('big');
      await page.route('**/v1/config/models', (route) =>
        route.request().postDataJSON()?.id === 'big'
          ? route.fulfill({ status: 500, json: { error: 'the disk is full' } })
          : route.fallback(),
      );
      const before = asked.length;
      const created = (): string[] =>
        asked.slice(before).filter((request) => request.startsWith('POST /v1/config/'));
      await dialog.getByRole('button', { name: 'Connect 4 models' }).focus();
      await page.keyboard.press('Enter');
      const alert = dialog.getByRole('alert');
      // Six requests, one after the other.
      await alert.getByText('model big: the disk is full').waitFor({ timeout: 60_000 });
      t.match(
        await alert.textContent(),
        /Created: provider openai(-\d)?, model small-1(-\d)?, model gpt-4o(-\d)?, model of-the-house, agent gpt-4o/,
      );
      t.equal(
        created().filter((request) => request.endsWith('models')).length,
        4,
        'each model is tried once',
      );
      t.ok(await dialog.getByRole('checkbox', { name: 'gpt-4o' }).isDisabled(), 'a created model stays');
      t.ok(await dialog.getByLabel('Model of the agent').isDisabled(), 'there is one agent');
      await dialog.getByRole('button', { name: 'Continue without' }).waitFor();
      await page.unroute('**/v1/config/models');
      await dialog.getByRole('button', { name: 'Retry' }).focus();
      await page.keyboard.press('Enter');
      await dialog
        .getByRole('heading', { name: 'Connected: house/Small-1, gpt-4o, of-the-house, house/large-1' })
        .waitFor();
      t.equal(created().length, 7, 'the retry creates the failed model only');
      const { body: big } = await get('/v1/config/models/big');
      t.match(big, { upstream_model: 'house/large-1' });
      const entries = async (namespace: string): Promise<Record<string, string>[]> =>
        Object((await get(`/v1/config/${namespace}`)).body).items;
      const own = (await entries('models')).filter(({ provider_id }) => provider_id === big.provider_id);
      t.equal(own.length, 4, 'all models have the same provider');
      const id = own.find(({ upstream_model }) => upstream_model === 'gpt-4o')?.id ?? '';
      const agents = (await entries('agents')).filter(({ model_id }) => model_id === id);
      t.equal(agents.length, 1, 'the agent uses the chosen model');
      await dialog.getByRole('button', { name: 'Close' }).click();
      const row = page.locator('tr[data-row]').filter({ has: page.getByText(id, { exact: true }) });
      t.match(await row.textContent(), /128K\$2\.50 \/ \$10/, 'the figures of the catalog apply');
      const paths = [...agents.map((one) => `agents/${one.id}`), ...own.map((one) => `models/${one.id}`)];
      for (const path of paths)
        await troupe.call('DELETE', `/v1/config/${path}?force=true`, undefined, headers);
    },
  );

  await t.test('connects a model accessibly, in a small window and in both languages', async (t) => {
    const provider = await startProvider(t);
    for (const language of ['en', 'zh-CN']) {
      const { page, go } = await house.visit(t, { moves: true, stored: { 'troupe.admin.locale': language } });
      await go('/providers?connect=1');
      const dialog = page.getByRole('dialog');
      const fits = async (name: string): Promise<void> => {
        t.strictSame(await barriers(page), [], `${language} ${name}`);
        await page.setViewportSize(SMALL);
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), SMALL.width, `small ${name}`);
        await page.setViewportSize({ width: 1280, height: 720 });
      };
      await dialog.getByRole('button', { name: 'Ollama' }).waitFor();
      await fits('cards');
      await dialog.getByRole('button', { name: 'Ollama' }).focus();
      await page.keyboard.press('Enter');
      await dialog.locator('input:focus').waitFor();
      await page.keyboard.type(provider.url);
      await page.keyboard.press('Enter');
      await dialog.getByRole('status').getByText('401').first().waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.type(KEY);
      await dialog.getByRole('checkbox').first().waitFor();
      await fits('models');
    }
  });

  await t.test('checks off steps that other clients complete', async (t) => {
    for (const path of ['agents/small-1', 'agents/gpt-4o', 'models/small-1', 'models/gpt-4o'])
      await troupe.call('DELETE', `/v1/config/${path}?force=true`, undefined, headers);
    const { page, go } = await house.visit(t, { moves: true });
    await go('/');
    await heading(page, 'model').waitFor();
    t.equal(await isDone(page, 'model').count(), 0);
    await open(page, 'watch');
    const provider = { id: 'anthropic', adapter: 'anthropic', api_key: 'sk-test' };
    t.equal((await troupe.call('POST', '/v1/config/providers', provider, headers)).status, 201);
    const model = { id: 'claude', provider_id: 'anthropic', upstream_model: 'claude-test' };
    t.equal((await troupe.call('POST', '/v1/config/models', model, headers)).status, 201);
    await isDone(page, 'model').waitFor();
    const agent = { id: 'mine', model_id: 'claude', system_prompt: 'Mine' };
    t.equal((await troupe.call('POST', '/v1/config/agents', agent, headers)).status, 201);
    await isDone(page, 'agent').waitFor();
  });

  await t.test('copies the demo agent under its id', async (t) => {
    const { page, go } = await house.visit(t, { moves: true });
    await go('/agents');
    await page.route('**/v1/capabilities', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), agents: ['team/first'] } });
    });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'Help', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Get started' }).click();
    await open(page, 'agent');
    await step(page, 'agent').locator('a[href$="/agents/new?from=team%2Ffirst"]').waitFor();
  });
}
