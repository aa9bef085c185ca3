import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { headers } from './ask.ts';
import { becomesTrue, type House } from './visit.ts';

/** Users and API keys. */

const DAY_MS = 86_400_000;

const KEY = /tpk_[0-9A-Za-z]{49}/;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const toast = (page: Page, text: string) => page.getByRole('alert').getByText(text).first().waitFor();
const row = (page: Page, name: string) => page.getByRole('row', { name }).first();

/** Everything that a page shows or keeps: its elements, the values of its fields, its storage and its history. */
const CONTENT = `JSON.stringify([
  document.documentElement.outerHTML,
  [...document.querySelectorAll('input, textarea')].map(({ value }) => value),
  { ...localStorage },
  { ...sessionStorage },
  location.href,
  history.state,
])`;
const content = (page: Page) => page.evaluate(CONTENT).then(String);

/** Opens the menu of a row with the keyboard and chooses an item. */
const choose = async (page: Page, name: string, item: string): Promise<void> => {
  await row(page, name)
    .getByRole('button', { name: /^Actions of/ })
    .press('Enter');
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};

export const onAccess = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const call = (method: string, path: string, body?: object) => troupe.call(method, path, body, headers);
  const as = async (key: string): Promise<number> =>
    (await troupe.call('GET', '/v1/threads', undefined, { authorization: `Bearer ${key}` })).status;

  t.test('creates a key for a new user, shows it once and then nowhere (check 99)', async (t) => {
    const { page, go, said, rest } = await house.visit(t, { moves: true, noisy: true });
    await go('/keys');
    await button(page, 'New API key').first().press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await dialog.getByLabel('Name', { exact: true }).fill('ci');
    await dialog.getByLabel('User', { exact: true }).fill('ci-bot');
    await button(page, 'Create key').click();
    await dialog.getByText('user not found: ci-bot').waitFor();
    t.equal(await dialog.getByLabel('User', { exact: true }).getAttribute('aria-invalid'), 'true');

    await dialog.getByLabel('Create this user if it does not exist').check();
    const grants = dialog.getByLabel('Grants of the key');
    await grants.fill('invoke:');
    await dialog.getByText(/^invoke: is not a grant/).waitFor();
    await grants.fill('invoke:default');
    await grants.press('Enter');
    await dialog.getByText('start agents that match default').waitFor();
    await button(page, 'Create key').press('Enter');

    const shown = page.getByRole('dialog', { name: 'API key ci' });
    await shown.getByText('Copy the key now: it is not shown again.').waitFor();
    const [key = ''] = KEY.exec((await shown.getByRole('region', { name: 'Key' }).textContent()) ?? '') ?? [];
    t.match(key, KEY);
    t.match(
      await shown.getByRole('region', { name: 'Request with curl' }).textContent(),
      `curl ${troupe.url}/v1/threads -H "authorization: Bearer ${key}"`,
    );
    t.equal(await as(key), 200);
    t.match(await content(page), key, 'the open dialog has the key');
    await page.keyboard.press('Escape');
    await shown.waitFor({ state: 'detached' });
    await row(page, 'ci').waitFor();
    await rest();
    t.notMatch(await content(page), key, 'the page no longer has the key');
    t.notMatch(said.join('\n'), key);
    await becomesTrue(page, `document.activeElement?.textContent === 'New API key'`);
    t.match((await call('GET', '/v1/users/ci-bot')).body, { kind: 'service', grants: ['member'] });
    await button(page, 'New API key').first().click();
    await dialog.locator('datalist option[value="ci-bot"]').waitFor({ state: 'attached' });
    await page.keyboard.press('Escape');
    t.match((await call('GET', '/v1/keys?user=ci-bot')).body, {
      total: 1,
      items: [{ name: 'ci', grants: ['invoke:default'] }],
    });
  });

  t.test('rotates, edits and revokes keys (check 99)', async (t) => {
    const { page, go } = await house.visit(t, { moves: true, noisy: true });
    await go('/keys?user=ci-bot&state=active');
    await choose(page, 'ci', 'Rotate');
    await page.getByLabel('The previous key works for').selectOption('no longer');
    await button(page, 'Rotate').click();
    const shown = page.getByRole('dialog', { name: 'API key ci' });
    const [key = ''] = KEY.exec((await shown.textContent()) ?? '') ?? [];
    t.equal(await as(key), 200);
    await button(page, 'Close').click();
    await shown.waitFor({ state: 'detached' });
    t.notMatch(await content(page), key);

    await choose(page, 'ci', 'Edit');
    const dialog = page.getByRole('dialog', { name: 'Edit ci' });
    await dialog.getByLabel('Days until it expires').fill('1000');
    await button(page, 'Save').click();
    await dialog.getByText(/^expires_in_secs must not extend the life of the key/).waitFor();
    await dialog.getByLabel('Days until it expires').fill('5');
    const grants = dialog.getByLabel('Grants of the key');
    await grants.fill('keys');
    await grants.press('Enter');
    await button(page, 'Save').click();
    await dialog.getByText('grants must not add keys: create another key').waitFor();
    await button(page, 'Remove keys').click();
    await dialog.getByLabel('Name', { exact: true }).fill('ci of main');
    await button(page, 'Save').click();
    await toast(page, 'API key "ci of main" saved');
    await row(page, 'ci of main').getByText('in 5 days').waitFor();
    const { body } = await call('GET', '/v1/keys?user=ci-bot&state=active');
    const [found] = Object(body).items;
    t.match(found, { name: 'ci of main', grants: ['invoke:default'] });
    t.ok(found.expires_at - Date.now() <= 5 * DAY_MS);

    await choose(page, 'ci of main', 'Revoke');
    await page.getByRole('dialog', { name: 'Revoke ci of main?' }).waitFor();
    await button(page, 'Revoke key').click();
    await toast(page, 'API key "ci of main" revoked');
    t.equal(await as(key), 401);
    await go('/keys?user=ci-bot');
    await row(page, 'ci of main').getByText('revoked').waitFor();
  });

  t.test('creates and edits a user and explains its grants', async (t) => {
    const { page, go } = await house.visit(t, { moves: true, noisy: true });
    await go('/users');
    await page.locator('h1').click();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('ID', { exact: true }).fill('CI-bot');
    await button(page, 'Create user').click();
    await dialog.getByText("user id 'CI-bot' looks like the existing 'ci-bot'").waitFor();
    await dialog.getByLabel('ID', { exact: true }).fill('alice');
    await dialog.getByLabel('Email').fill('A@Acme.example');
    await button(page, 'Create user').click();
    await page.waitForURL('**/users/alice');
    await page.getByText('a@acme.example').waitFor();

    await button(page, 'Edit').click();
    const edit = page.getByRole('dialog', { name: 'Edit alice' });
    await edit.getByLabel('Name', { exact: true }).fill(' Alice');
    await button(page, 'Save').click();
    await edit.getByText(/^name must have 1 to 256 bytes/).waitFor();
    await edit.getByLabel('Name', { exact: true }).fill('Alice');
    await edit.getByLabel('Grants').fill('configure:mcp-servers');
    await button(page, 'Save').click();
    await toast(page, 'User "alice" saved');
    const grants = page.getByRole('region', { name: 'Grants' });
    await grants.getByText('configure:mcp-servers', { exact: true }).waitFor();
    await grants.getByText(/^amounts to admin/).waitFor();
    t.match((await call('GET', '/v1/users/alice')).body, {
      name: 'Alice',
      grants: ['member', 'configure:mcp-servers'],
    });
  });

  t.test('reports at its field why an account cannot be connected', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/connections?connect=1');
    const dialog = page.getByRole('dialog', { name: 'Connect an account' });
    t.ok(await button(page, 'Continue').isDisabled(), 'without a server');
    const server = dialog.getByLabel('MCP server');
    await server.fill('nowhere');
    await button(page, 'Continue').click();
    await dialog.locator('input[aria-invalid="true"]').waitFor();
    await server.fill('elsewhere');
    t.equal(await dialog.locator('[aria-invalid="true"]').count(), 0);
  });

  t.test('gives a user a key, disables it, signs it out and deletes it', async (t) => {
    const { page, go } = await house.visit(t, { moves: true, noisy: true });
    await go('/users/alice');
    await page.getByText('This user has no API keys.').waitFor();
    await button(page, 'New API key').click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('laptop');
    await button(page, 'Create key').click();
    const shown = page.getByRole('dialog', { name: 'API key laptop' });
    const [key = ''] = KEY.exec((await shown.textContent()) ?? '') ?? [];
    await page.reload();
    await row(page, 'laptop').getByText('active').waitFor();
    t.notMatch(await content(page), key, 'a reload does not show the key again');
    t.equal(await as(key), 200);

    await button(page, 'Disable').click();
    await button(page, 'Disable user').click();
    await toast(page, 'User "alice" disabled');
    t.equal(await as(key), 401);
    await button(page, 'Enable').click();
    await button(page, 'Enable user').click();
    await toast(page, 'User "alice" enabled');
    t.equal(await as(key), 200);

    await button(page, 'More actions for alice').click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await button(page, 'Sign out user').click();
    await toast(page, 'User "alice" signed out');
    await page.getByText('Signed out', { exact: true }).waitFor();

    const bearer = { authorization: `Bearer ${key}` };
    const thread = await troupe.call('POST', '/v1/threads', { id: 'of-alice' }, bearer);
    t.equal(thread.status, 201, JSON.stringify(thread.body));
    await button(page, 'More actions for alice').click();
    await page.getByRole('menuitem', { name: 'Delete user' }).click();
    const confirm = page.getByRole('dialog', { name: 'Delete alice?' });
    await confirm.getByText('As long as some remain, no new user can have this id.').waitFor();
    await confirm.getByLabel('Threads of this user').selectOption('delete');
    t.ok(await button(page, 'Delete user').isDisabled(), 'the deletion of threads has to be typed');
    await confirm.getByLabel('Type alice to confirm').fill('alice');
    await button(page, 'Delete user').click();
    await page.waitForURL('**/users');
    await toast(page, 'User "alice" deleted');
    t.equal((await call('GET', '/v1/users/alice')).status, 404);
    await go('/users/alice');
    await page.getByText('There is no user alice').waitFor();
  });

  t.test('shows a refusal of the service in the dialog', async (t) => {
    const made = await call('POST', '/v1/keys', {
      name: 'manager',
      user: 'manager',
      new_user: { kind: 'person', grants: ['manage', 'keys', 'member'] },
    });
    await call('POST', '/v1/users', { id: 'boss', kind: 'person', grants: ['admin'] });
    const { page, go } = await house.visit(t, { moves: true, noisy: true, token: Object(made.body).key });
    await go('/users/boss');
    await button(page, 'Disable').click();
    await button(page, 'Disable user').click();
    await page
      .getByRole('dialog')
      .getByText("user 'boss' has the grant admin, which the caller lacks")
      .waitFor();
    await page.keyboard.press('Escape');
    await go('/users/manager');
    await button(page, 'Edit').click();
    const edit = page.getByRole('dialog', { name: 'Edit manager' });
    await edit.getByLabel('Grants').fill('observe');
    await button(page, 'Save').click();
    await edit.getByText('this gives the grant observe, which the caller lacks').waitFor();
  });

  t.test('shows users and keys within a narrow window', async (t) => {
    const { page, go, rest } = await house.visit(t, { viewport: { width: 390, height: 844 } });
    for (const [path, columns] of [
      ['/users', ['ID', 'State', 'Last seen']],
      ['/keys', ['Name', 'State', 'Last used']],
    ] as const) {
      await go(path);
      await page.locator('tbody tr').first().waitFor();
      await rest();
      const heads = page.locator('thead th:not([data-actions-head])');
      t.strictSame(await heads.allTextContents(), columns, path);
      const { x = 0, width = 390 } = (await heads.last().boundingBox()) ?? {};
      t.ok(x + width <= 390, `${path}: the last column ends at ${x + width}`);
    }
  });
};
