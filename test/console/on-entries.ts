import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ROOT } from '../run/places.ts';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import type { House } from './visit.ts';

/** Providers, models, servers, tools, datasets and eval runs from the view of an operator. */

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const toast = (page: Page, text: string) => page.getByRole('alert').getByText(text).first().waitFor();
const rowOf = (page: Page, id: string) =>
  page.locator('tr').filter({ has: page.getByText(id, { exact: true }) });
const invalid = (page: Page) => page.locator('[aria-invalid="true"]').count();

const MEMORY = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');

export const onEntries = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const get = async (path: string) => (await troupe.call('GET', path, undefined, headers)).body;

  t.test('keeps the key of a provider, tests it, and lists its dependents on deletion', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/providers');
    await button(page, 'New Provider').click();
    t.equal(await invalid(page), 0, 'a choice that was not made yet is no mistake');
    t.equal(await page.getByLabel('Adapter').locator('option:checked').textContent(), 'Choose…');
    await page.getByLabel('Provider ID').fill('gone-soon');
    t.equal(await page.locator('input[type="password"]').count(), 1);
    await page.locator('input[type="password"]').fill('sk-of-nobody');
    await page.getByLabel('Base URL').fill('nowhere');
    await button(page, 'Save').click();
    await page.getByText('begins with http://').waitFor();
    t.equal(await invalid(page), 2);
    await page.getByLabel('Adapter').selectOption('openai');
    t.equal(await page.getByLabel('Base URL').getAttribute('placeholder'), 'https://api.openai.com/v1/');
    await page.getByLabel('Base URL').fill('http://127.0.0.1:1/v1');
    t.equal(await page.getByText('gone-soon').count(), 1, 'the form shows the id once');
    await button(page, 'Save').click();
    await toast(page, 'Provider "gone-soon" created');
    await rowOf(page, 'gone-soon').getByText('Stored', { exact: true }).waitFor();

    await rowOf(page, 'gone-soon').getByRole('button', { name: 'Edit' }).click();
    await page.getByText('Existing credential is preserved.', { exact: true }).waitFor();
    await page.getByLabel('Timeout (seconds)').fill('7');
    await button(page, 'Apply and test').click();
    await toast(page, 'Provider "gone-soon" saved');
    await page.getByRole('dialog').getByText('No connection (ECONNREFUSED)').first().waitFor();
    await button(page, 'Test connection').waitFor();
    t.match(await get('/v1/config/providers/gone-soon'), { has_api_key: true, timeout_secs: 7 });
    await button(page, 'Remove it').click();
    await button(page, 'Cancel').click();
    await page.getByRole('dialog', { name: 'Discard unsaved changes?' }).waitFor();
    await button(page, 'Keep editing').click();
    await button(page, 'Save').click();
    const key = page.getByRole('group', { name: 'API key' });
    await key.getByText('requires api_key unless').waitFor();
    await page.getByLabel('Other options (JSON)').fill('{"allow_env_credentials": true}');
    await button(page, 'Save').click();
    await rowOf(page, 'gone-soon').getByText('Environment / none', { exact: true }).waitFor();
    t.notOk((await get('/v1/config/providers/gone-soon')).has_api_key);

    await go('/providers?new=1');
    await page.getByLabel('Provider ID').fill('gone-soon');
    await page.getByLabel('Adapter').selectOption('openai');
    await button(page, 'Save').click();
    await page.getByText('already').first().waitFor();
    t.equal(await page.getByLabel('Provider ID').getAttribute('aria-invalid'), 'true');
    t.equal(await page.getByLabel('Provider ID').inputValue(), 'gone-soon');

    const model = { id: 'on-it', provider_id: 'gone-soon', upstream_model: 'x' };
    await troupe.call('POST', '/v1/config/models', model, headers);
    await troupe.call(
      'POST',
      '/v1/config/agents',
      { id: 'of-it', model_id: 'on-it', system_prompt: 'x' },
      headers,
    );
    await go('/providers');
    await rowOf(page, 'gone-soon').getByRole('button', { name: 'Actions of gone-soon' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('agents/of-it').waitFor();
    t.equal(await dialog.getByRole('button', { name: 'Force delete' }).isDisabled(), true);
    await dialog.getByRole('textbox').fill('gone-soon');
    const sent = page.waitForRequest((one) => one.method() === 'DELETE');
    await dialog.getByRole('button', { name: 'Force delete' }).click();
    t.match((await sent).url(), /force=true/);
    await toast(page, 'Provider "gone-soon" deleted');
    await go('/diagnostics');
    await page
      .getByTestId('diagnostic-agent_missing_model')
      .or(page.getByTestId('diagnostic-model_missing_provider'))
      .first()
      .waitFor();
    await page.getByRole('link', { name: /^Open/ }).first().waitFor();
    await troupe.call('DELETE', '/v1/config/agents/of-it', undefined, headers);
    await troupe.call('DELETE', '/v1/config/models/on-it', undefined, headers);
  });

  t.test('creates and changes a budget', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/budgets');
    await button(page, 'New Budget').first().click();
    await page.getByLabel('Budget ID').fill('monthly');
    await page.getByLabel('USD').fill('20');
    await page.getByLabel('Counting restarts every').selectOption('day');
    await button(page, 'Add a property').click();
    await page.getByLabel('Property 1', { exact: true }).selectOption('agent');
    await button(page, 'Save').click();
    await toast(page, 'Budget "monthly" created');
    await rowOf(page, 'monthly').getByText('$20.00').waitFor();
    t.match(await get('/v1/config/budgets/monthly'), {
      limits: { usd: 20 },
      window: { every: 'day' },
      per: ['agent'],
      on_exceeded: 'pause',
    });
    await rowOf(page, 'monthly').getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Beyond the limit').selectOption('only report');
    await button(page, 'Save').click();
    await toast(page, 'Budget "monthly" saved');
    await rowOf(page, 'monthly').getByText('only report').waitFor();
  });

  t.test('validates a model before sending, tests it and adds it to a pool', async (t) => {
    const { page, go, asked } = await house.visit(t);
    await go('/models');
    await button(page, 'New Model').click();
    await page.getByLabel('Model ID').fill('twin');
    await page.getByLabel('Provider ID').selectOption('default');
    await page.getByLabel('Upstream Model').fill('scripted-2');
    await page.getByLabel('Context window (tokens)').fill('10');
    await page.getByLabel('Max output tokens').fill('11');
    await page.getByLabel('Knowledge cutoff').fill('2024-13');
    await page.getByLabel('Input price').fill('-1');
    await button(page, 'Save').click();
    await page.getByText('At most the context window').waitFor();
    t.equal(await invalid(page), 3);
    t.notOk(
      asked.some((one) => one.startsWith('POST')),
      'nothing was sent',
    );
    await page.getByLabel('Max output tokens').fill('5');
    const kinds = (direction: string) => page.getByRole('group', { name: direction, exact: true });
    await kinds('Input').getByRole('checkbox', { name: 'image' }).check();
    await kinds('Output').getByRole('checkbox', { name: 'text' }).check();
    await kinds('Input').getByRole('checkbox', { name: 'image' }).uncheck();
    await kinds('Input').getByRole('checkbox', { name: 'pdf' }).check();
    await page.getByLabel('Knowledge cutoff').fill('2024-12');
    await page.getByLabel('Input price').fill('1');
    await button(page, 'Save').click();
    await toast(page, 'Model "twin" created');
    t.strictSame((await get('/v1/config/models/twin')).modalities, { input: ['pdf'], output: ['text'] });
    await page.getByTestId('test-model-twin').click();
    t.match(page.url(), /[?&]test=twin/, 'the dialog has an address');
    await page.getByRole('checkbox', { name: 'default', exact: true }).check();
    await page.getByPlaceholder('Say hello').fill('Are you there?');
    await page.getByTestId('model-test-send').click();
    await page.getByTestId('model-test-response').nth(1).waitFor();
    t.match(await page.getByTestId('model-test-response').allTextContents(), [/there/, /there/]);
    await button(page, 'Close').click();
    await page.waitForURL((url) => !url.searchParams.has('test'));

    await go('/model-pools?new=1');
    await page.getByLabel('Pool ID').fill('both');
    t.equal(await page.getByRole('dialog').getByText('Required', { exact: true }).count(), 0);
    await button(page, 'Add a member').click();
    const member = page.getByRole('group', { name: 'Member 1' });
    await member.getByLabel('Role').selectOption('only when others fail');
    await button(page, 'Save').click();
    await page.getByText('At least one member whose role').waitFor();
    await member.getByLabel('Role').selectOption('member');
    await member.getByLabel('Model').selectOption('twin');
    await button(page, 'Add a member').click();
    await button(page, 'Move Member 2 up').click();
    t.not(await member.getByLabel('Model').locator('option:checked').textContent(), 'twin');
    await button(page, 'Remove Member 1').click();
    await button(page, 'Save').click();
    await toast(page, 'Model pool "both" created');
    await go('/agents/new');
    // Agents can use the pool.
    await page.locator('option[value="both"]').waitFor({ state: 'attached' });
    await troupe.call('DELETE', '/v1/config/model-pools/both', undefined, headers);
    await troupe.call('DELETE', '/v1/config/models/twin', undefined, headers);
  });

  t.test(
    'shows the built-in figures of a model in its form and stores the prices of token kinds separately',
    async (t) => {
      const { page, go } = await house.visit(t);
      const groq = { id: 'priced-by', adapter: 'groq', api_key: 'k' };
      const known = { id: 'known', provider_id: 'priced-by', upstream_model: 'openai/gpt-oss-120b' };
      await troupe.call('POST', '/v1/config/providers', groq, headers);
      await troupe.call('POST', '/v1/config/models', known, headers);
      await go('/models');
      const listed = page.locator('tbody tr[data-row]', { hasText: known.upstream_model });
      await listed.getByTitle('Known value of this model').first().waitFor();
      t.match(await listed.textContent(), /131(\.1)?K\$0\.15 \/ \$0\.6/);
      await go('/models?edit=known');
      const cached = page.getByLabel('Cache read price');
      await page.getByPlaceholder('131072').waitFor();
      t.equal(await cached.getAttribute('placeholder'), '0.075');
      await page.getByText('default (text').first().waitFor();
      await page.getByLabel('Input price').fill('1');
      t.equal(
        await cached.getAttribute('placeholder'),
        null,
        'cached tokens of a custom price have no placeholder',
      );
      await cached.fill('0.5');
      await page.getByLabel('Cache write price, 1 hour').fill('2');
      await button(page, 'Save').click();
      await toast(page, 'Model "known" saved');
      t.match(await get('/v1/config/models/known'), {
        input_token_price_per_million_usd: 1,
        cached_input_token_price_per_million_usd: 0.5,
        cache_write_1h_token_price_per_million_usd: 2,
      });
      await troupe.call('DELETE', '/v1/config/models/known', undefined, headers);
      await troupe.call('DELETE', '/v1/config/providers/priced-by', undefined, headers);
    },
  );

  t.test('keeps the environment of an MCP server and reports connection failures', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/mcp-servers');
    await button(page, 'New MCP Server').first().click();
    await page.getByText('Paste a configuration').click();
    const pasted = page.getByLabel('Configuration of another MCP client (JSON)');
    await pasted.fill('{}');
    await page.getByText('This contains no MCP server.').waitFor();
    await pasted.fill('{"mcpServers": {"files": {"command": "npx", "args": ["-y", "files"]}}}');
    await page.getByText('The form contains files.').waitFor();
    t.equal(await page.getByLabel('Command', { exact: true }).inputValue(), 'npx');
    t.equal(await page.getByLabel('Arguments (one per line)', { exact: true }).inputValue(), '-y\nfiles');
    t.ok(await page.getByLabel('Reconnect automatically').isChecked());
    await page.getByLabel('Command', { exact: true }).fill('');
    await page.getByLabel('Server ID', { exact: true }).fill('nobody');
    await button(page, 'Save').click();
    await page.getByText('A command is required.').waitFor();
    await page.getByLabel('Command', { exact: true }).fill('/no/such/program');
    await button(page, 'Save').click();
    await page.getByText('/no/such/program ENOENT').first().waitFor();
    t.equal(await invalid(page), 0, 'the error is not assigned to a field');
    await page.getByLabel('Command', { exact: true }).fill(process.execPath);
    await page.getByLabel('Arguments (one per line)', { exact: true }).fill(`${MEMORY}\n\n--two`);
    await page.getByRole('group', { name: 'Environment' }).getByRole('button', { name: 'Add' }).click();
    await page.getByLabel('Name', { exact: true }).fill('TOKEN');
    await page.getByLabel(/^Value/).fill('of-nobody-else');
    await button(page, 'Save').click();
    await toast(page, 'MCP server "nobody" created');
    t.match(await get('/v1/config/mcp-servers/nobody'), { args: [MEMORY, '--two'], env_keys: ['TOKEN'] });
    await rowOf(page, 'nobody').getByText('TOKEN').waitFor();
    await rowOf(page, 'nobody').getByRole('button', { name: 'Edit' }).click();
    await page.getByText('Existing credential is preserved.').waitFor();
    await page.getByLabel('Timeout (seconds)').fill('5');
    await button(page, 'Save').click();
    await toast(page, 'MCP server "nobody" saved');
    t.match(await get('/v1/config/mcp-servers/nobody'), { timeout_secs: 5, env_keys: ['TOKEN'] });
    t.notMatch(await page.content(), /of-nobody-else/);
    await page.getByRole('link', { name: 'nobody', exact: true }).click();
    await page.getByRole('heading', { name: 'nobody' }).waitFor();
    await page.getByRole('button', { name: 'Verify tools' }).waitFor();
    await page.getByText('Failures in a row').waitFor();
    await page.getByText('mcp__nobody__read_graph').waitFor();
    await t.test('shows a changed tool definition and accepts it by its digest', async (t) => {
      const changed_tools = [
        { name: 'read_graph', change: 'changed', digest: 'd1', seen_at: 1_765_000_000, held: true },
      ];
      const left_out = [{ name: 'long_task', reason: 'it runs as a task only' }];
      await page.route('**/v1/mcp-servers/nobody/status', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), changed_tools, left_out } });
      });
      const sent: unknown[] = [];
      await page.route('**/v1/mcp-servers/nobody/tools/accept', (route) => {
        sent.push(route.request().postDataJSON());
        return route.fulfill({ json: {} });
      });
      await page.getByText('held back').waitFor();
      await page.getByText('it runs as a task only').waitFor();
      await button(page, 'Accept 1 definition').click();
      await toast(page, '1 definition accepted');
      t.strictSame(sent, [{ tools: [{ name: 'read_graph', digest: 'd1' }] }]);
      await page.unrouteAll({ behavior: 'wait' });
    });
    await button(page, 'Restart').first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
    await toast(page, 'nobody is connected again');
    await troupe.call('DELETE', '/v1/config/mcp-servers/nobody', undefined, headers);
    await go('/mcp-servers/who');
    await page.getByText('There is no MCP server who').waitFor();
    t.equal(await button(page, 'Restart').or(button(page, 'Delete')).count(), 0);

    await go('/a2a-servers?new=1');
    await page.getByLabel('Server ID').fill('far');
    await page.getByLabel('Base URL').fill('http://127.0.0.1:1');
    await page.getByLabel('Timeout (ms)').fill('90000');
    await button(page, 'Save').click();
    await page.getByText('At most 30000').waitFor();
    await page.getByLabel('Timeout (ms)').fill('500');
    await button(page, 'Save').click();
    await toast(page, 'A2A server "far" created');
    await rowOf(page, 'far').getByText('Not contacted').waitFor();
    await rowOf(page, 'far').getByText('far', { exact: true }).click();
    await page.getByText('Not contacted: 127.0.0.1 is a private address').waitFor();
    await troupe.call('DELETE', '/v1/config/a2a-servers/far', undefined, headers);
  });

  t.test('limits a tool description in bytes, stores it and reverts it', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/tools/get_weather');
    const text = page.getByLabel('Description for models');
    const original = await text.inputValue();
    await text.fill(`${'天'.repeat(1365)}é`);
    await page.getByText('4,097 bytes: at most 4,096').waitFor();
    t.equal(await button(page, 'Save').isDisabled(), true);
    await text.fill('天'.repeat(1365));
    await button(page, 'Save').click();
    await toast(page, 'Tool "get_weather" saved');
    await page.getByText(original, { exact: true }).waitFor();
    await button(page, 'Revert to default').click();
    await toast(page, 'The original description of tool');
    t.match(await get('/v1/config/tools/get_weather'), { description: original });
    t.equal(await text.inputValue(), original);

    const overrides = '/v1/config/tools/get_weather/overrides';
    await troupe.call('PATCH', overrides, { description: 'Theirs' }, headers);
    await text.fill('Mine');
    await button(page, 'Save').click();
    await page.getByRole('dialog', { name: /was changed by another user/ }).waitFor();
    t.match(await get('/v1/config/tools/get_weather'), { description: 'Theirs' });
    await button(page, 'Discard mine').click();
    t.equal(await text.inputValue(), 'Theirs');
    await troupe.call('DELETE', overrides, undefined, headers);
  });

  t.test('calls a tool with arguments from its schema, and shows the result and its failures', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    const rules = [{ tool: 'get_*', behavior: 'ask' }];
    await troupe.call(
      'POST',
      '/v1/config/agents',
      {
        id: 'asker',
        model_id: 'default',
        plugin_ids: ['permission'],
        sections: { permission: { default_behavior: 'deny', rules } },
      },
      headers,
    );
    await go('/tools');
    await page.getByRole('row', { name: 'get_weather' }).first().click();
    await page.getByRole('rowheader', { name: 'location required' }).waitFor();
    await button(page, 'Run tool').click();
    await page.locator('[aria-invalid="true"]:focus').waitFor();
    t.equal(await page.getByRole('region', { name: 'Result' }).count(), 0);
    await page.keyboard.type('Rome');
    await page.getByLabel('As agent').selectOption('asker');
    await page.waitForURL('**/tools/get_weather?agent=asker');
    await page.getByLabel('Location').fill('Rome');
    await page.keyboard.press('Control+Enter');
    const result = page.getByRole('region', { name: 'Result' }).first();
    await result.getByText('Succeeded').waitFor();
    await result.getByText('the call needs approval').waitFor();
    await result.getByText('get_*').waitFor();
    await result.getByText('"temperature_f": 70').waitFor();
    await go('/tools/failingTool');
    await page.getByText('The tool has no parameters.').first().waitFor();
    await button(page, 'Run tool').click();
    await result.getByText('Failed', { exact: true }).waitFor();
    await result.getByText('Intentional failingTool error').waitFor();
    await go('/tools/progress_demo');
    await button(page, 'Run tool').click();
    await button(page, 'Cancel').click();
    await button(page, 'Run tool').waitFor();
    t.equal(await result.count(), 0);
    await go('/tools/askUserQuestion');
    await page.getByText('the client of a run executes it').waitFor();
    t.equal(await button(page, 'Run tool').count(), 0);
  });

  t.test('edits, runs and compares a dataset without losing concurrent changes', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/datasets');
    await button(page, '+ New Dataset').first().click();
    const texts = page.getByRole('dialog').locator('input[type="text"]');
    await texts.nth(0).fill('greetings');
    await texts.nth(1).fill('Says hello');
    await button(page, 'Create').click();
    await button(page, 'Add a test case').first().click();
    await page.getByLabel('Test case ID').fill('hello');
    await page.getByLabel('User input').fill('Say hello');
    await page.getByLabel('The answer contains (one per line)').fill('Scripted');
    // Another operator saves first.
    const changed = { expected_revision: 1, spec: { description: 'Of somebody else', fixtures: [] } };
    const { revision } = Object((await get('/v1/eval/datasets/greetings')).meta);
    await troupe.call(
      'PUT',
      '/v1/eval/datasets/greetings',
      { ...changed, expected_revision: revision },
      headers,
    );
    await button(page, 'Save').click();
    await button(page, 'Apply again').click();
    await toast(page, 'Dataset "greetings" saved');
    await page.getByRole('dialog', { name: 'New test case' }).waitFor({ state: 'detached' });
    t.match(await get('/v1/eval/datasets/greetings'), {
      spec: { description: 'Of somebody else', fixtures: [{ id: 'hello' }] },
    });

    await go('/datasets/greetings');
    await page.getByLabel('Answers', { exact: true }).selectOption({ label: 'live models' });
    await page.getByRole('checkbox', { name: 'default', exact: true }).check();
    await page.getByRole('button', { name: 'Run' }).first().click();
    await page.waitForURL(/\/eval-runs\/.+/);
    await page.getByText('100%').waitFor();
    const first = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const again = async (models: string[]): Promise<string> => {
      const request = { dataset_id: 'greetings', mode: 'live', models };
      return Object((await troupe.call('POST', '/v1/eval/runs', request, headers)).body.run).id;
    };
    await go(`/eval-runs/${await again(['default'])}?baseline=${first}`);
    t.equal(await page.getByTestId('eval-diff-banner').getAttribute('data-verdict'), 'clean');
    await page.getByText('Say hello', { exact: true }).click();
    const drawer = page.getByRole('dialog');
    await drawer
      .getByRole('region', { name: 'Answer A' })
      .getByText('Scripted response to: Say hello')
      .waitFor();
    await drawer.getByText('The answer contains “Scripted”').waitFor();

    await t.test('compares two models side by side, case by case', async (t) => {
      const other = await again(['echo']);
      await go('/eval-runs');
      for (const run of [other, first]) {
        await page
          .getByRole('row')
          .filter({ has: page.getByTitle(run) })
          .focus();
        await page.keyboard.press('x');
      }
      await button(page, 'Compare').click();
      await page.waitForURL(`**/eval-runs/${other}?baseline=${first}`);
      const banner = page.getByTestId('eval-diff-banner');
      await banner.getByText('Worse 1').waitFor();
      t.equal(await banner.getAttribute('data-verdict'), 'blocking');
      for (const name of ['A · default', 'B · echo'])
        await page.getByRole('columnheader', { name }).waitFor();
      const row = page.locator('tbody tr').filter({ hasText: 'Say hello' });
      t.equal(await row.count(), 1, 'one row per test case');
      t.match(await row.textContent(), /Say hello.*Worse.*Passed.*Failed.*The answer lacks/);
      const totals = page.getByRole('group', { name: 'Totals' });
      t.match(await totals.textContent(), /A · default100%.*B · echo0%/);
      await button(page, 'List').click();
      await banner.waitFor({ state: 'detached' });

      await go(`/eval-runs/${await again(['default', 'echo'])}`);
      await banner.getByText('Worse 1').waitFor();
      await page.getByRole('combobox', { name: /^A/ }).selectOption('echo');
      await banner.getByText('Better 1').waitFor();
    });
    await go('/eval-runs');
    t.equal((await page.locator('table tbody tr a').count()) > 1, true);
  });

  t.test('reads report files without requests to the service', async (t) => {
    const { page, go, asked } = await house.visit(t);
    await go('/eval-reports');
    await page.waitForLoadState('networkidle');
    const before = asked.length;
    const line = (fixture_id: string, passed: boolean, failures: object[] = []) =>
      JSON.stringify({ fixture_id, passed, failures });
    const file = (name: string, lines: string[]) => ({
      name,
      mimeType: 'application/x-ndjson',
      buffer: Buffer.from(lines.join('\n')),
    });
    await page
      .getByLabel('Choose a report file')
      .setInputFiles(
        file('now.ndjson', [
          line('good', true),
          '{ broken',
          line('bad', false, [
            { kind: 'replay_runtime_failure', failure: { kind: 'runtime_error', message: 'cut' } },
          ]),
        ]),
      );
    await page.getByText('1 line could not be read').waitFor();
    await page.getByText('Line 2: not JSON').waitFor();
    await page.getByText('It could not be replayed: cut').waitFor();
    await page
      .getByLabel('Choose a baseline file')
      .setInputFiles(file('before.ndjson', [line('good', true), line('bad', true)]));
    const banner = page.getByTestId('eval-diff-banner');
    await banner.getByText('Worse 1').waitFor();
    t.equal(await banner.getAttribute('data-verdict'), 'blocking');
    t.match(
      await page.locator('tbody tr').filter({ hasText: 'bad' }).textContent(),
      /bad.*Worse.*Passed.*Failed/,
    );
    // The bell reads the latest eval runs at any time.
    t.strictSame(
      asked.slice(before).filter((one) => one.includes('/v1/eval') && !one.endsWith('?limit=20')),
      [],
    );
  });

  t.test('follows a run in its statechart and steps through it afterwards', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/statecharts/run');
    await page.getByText('Live', { exact: true }).waitFor();
    await troupe.runToEnd({ agentId: 'default', messages: [{ role: 'user', content: 'RUN_WEATHER_TOOL' }] });
    const actor = page.locator('[data-testid^="actor-run:"][data-ended]').first();
    await actor.getByText('ended').waitFor();
    await actor.click();
    const chart = page.getByTestId('run-statechart');
    t.equal(await chart.getAttribute('data-state'), 'completed');
    t.equal(await chart.locator('[data-state="completed"][data-lit]').count(), 1);
    t.ok((await chart.locator('[data-passed]').count()) > 2, 'passed states are marked');
    const slider = page.getByTestId('time-travel-slider');
    await slider.fill('0');
    t.equal(await chart.getAttribute('data-state'), 'created');
    await button(page, 'Next step').click();
    t.not(await chart.getAttribute('data-state'), 'created');
    await button(page, 'Follow live').click();
    t.equal(await chart.getAttribute('data-state'), 'completed');
    await button(page, '2').click();
    t.ok((await chart.locator('[data-state]').count()) > 12, 'a deeper level shows more states');
    await go('/statecharts/no-such');
    await page.getByText('No statechart no-such').waitFor();
  });
};
