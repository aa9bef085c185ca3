import { createWebSocketInspector } from '@statelyai/inspect';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { createActor } from 'xstate';
import { shop } from '../programs/machines.ts';
import { connectPeer } from '../programs/peer.ts';
import type { House } from './visit.ts';

/** Other programs: their connection, their wall, and one of their actors step by step. */

const BROWSING = 'browsing\u00a0the\u00a0shelves';

const chart = (page: Page, state: string) =>
  page.locator(`[data-testid$="/shop-statechart"][data-state="${state}"]`);

export const onPrograms = async (t: Test, house: House): Promise<void> => {
  const { body } = await house.troupe.admin('GET', '/v1/system/programs');
  const address = String(body.url);

  t.test('explains how a program reports, with the address for reports', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/statecharts');
    const section = page.getByTestId('programs');
    await section.getByText('No program has reported yet').waitFor();
    t.match(await section.locator('pre').textContent(), `${address}/my-program`);
    t.equal(await section.getByText('--inspection-addr').count(), 0);
  });

  t.test('explains how to enable reports in both languages', async (t) => {
    for (const [language, text] of [
      ['en', 'The service accepts no reports'],
      ['zh-CN', '服务目前不接收上报'],
    ] as const) {
      const { page, go } = await house.visit(t, { stored: { 'troupe.admin.locale': language } });
      await page.route('**/v1/system/programs', (route) => route.fulfill({ json: { url: null, items: [] } }));
      await go('/statecharts');
      const section = page.getByTestId('programs');
      await section.getByText(text).waitFor();
      await section.getByText('SERVICE_INSPECTION_ADDR=127.0.0.1:38081').waitFor();
      t.match(await section.locator('pre').textContent(), 'createWebSocketInspector');
    }
  });

  t.test('shows a program from its connection to its disconnection', async (t) => {
    const { page, asked, go } = await house.visit(t, { viewport: { width: 1440, height: 1000 } });
    await go('/statecharts');
    const section = page.getByTestId('programs');
    await section.getByText('No program has reported yet').waitFor();
    const inspector = createWebSocketInspector({ url: `${address}/corner%20shop` });
    t.teardown(() => inspector.stop());
    const actor = createActor(shop, { inspect: inspector.inspect });
    actor.start();
    const program = section.getByRole('region', { name: 'corner shop' });
    await program.getByText('connected').waitFor();
    await program.getByText('1 live · 11 states').waitFor();
    await program.locator('svg [data-state]').first().waitFor();

    await program.getByRole('link', { name: 'shop', exact: true }).first().click();
    await page.waitForURL('**/statecharts/programs/*/shop');
    await page.getByText('A shop of somebody else.').waitFor();
    await page.locator('[data-testid^="actor-"]').click();
    await chart(page, BROWSING).waitFor();
    actor.send({ type: 'ADD' });
    actor.send({ type: 'CHECK' });
    await chart(page, 'paying.goods.shelf paying.money.due').waitFor();
    actor.send({ type: 'PACK' });
    await chart(page, 'paying.goods.box paying.money.due').waitFor();
    t.ok(
      await page.locator('[data-testid$="/shop-statechart"] [data-passed]').count(),
      'passed states are marked',
    );
    const steps = page.getByRole('region', { name: 'Path taken' }).locator('ol > li');
    t.match((await steps.allInnerTexts()).join(' '), /ADD.*CHECK.*always.*PACK/s);
    await page.getByTestId('time-travel-slider').press('Home');
    await chart(page, BROWSING).waitFor();
    await page.getByRole('button', { name: 'Follow live', exact: true }).click();
    await chart(page, 'paying.goods.box paying.money.due').waitFor();
    await page.getByRole('link', { name: /^payment / }).click();
    await page.waitForURL('**/statecharts/programs/*/payment?actor=*');
    await page.locator('[data-testid$="/payment-statechart"][data-state="asked"]').waitFor();
    inspector.stop();
    await page.getByText('ended', { exact: true }).waitFor();
    await go('/statecharts');
    await section.getByText('disconnected', { exact: true }).waitFor();
    t.equal(asked.filter((one) => one.includes('/programs/stream')).length >= 2, true);
    t.notOk(
      asked.some((one) => /elk/.test(one)),
      'the layout is computed by the service',
    );
  });

  t.test('explains a missing chart and still shows the actors', async (t) => {
    const peer = await connectPeer(t, address, { path: '/broken' });
    const definition = JSON.stringify({ id: 'broken', states: { a: { on: { GO: 'nowhere' } } } });
    const said = { sessionId: 'b', name: 'broken', snapshot: { value: 'a' } };
    peer.tell({ ...said, type: '@xstate.actor', definition });
    peer.send('nonsense');
    const { page, go } = await house.visit(t, { colorScheme: 'dark' });
    await go('/statecharts');
    const program = page.getByRole('region', { name: 'broken' });
    await program.getByText(/There is no chart: XState refuses its definition/).waitFor();
    await program.getByText('1 message was rejected; the last: a message is not JSON').waitFor();
    await program.getByRole('link', { name: 'broken' }).click();
    await page.getByText(/There is no chart/).waitFor();
    const row = page.getByTestId(/^actor-\d+:b$/);
    await row.getByText('a', { exact: true }).waitFor();
    peer.tell({ ...said, type: '@xstate.snapshot', event: { type: 'GO' }, snapshot: { value: 'b' } });
    await row.getByText('b', { exact: true }).last().waitFor();
    await row.click();
    await page.getByRole('region', { name: 'Path taken' }).getByText('GO').first().waitFor();
  });

  t.test('reports an unknown machine', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/statecharts/programs/999/none');
    await page.getByText('There is no such machine').waitFor();
  });
};
