import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import { eventually } from '../service/troupe.ts';
import { read } from './ask.ts';
import type { House } from './visit.ts';

/** Files in messages and in the conversations that contain them. */

/** A PNG image of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Dispatches the paste or drop event of a file. The code is text, because browser types are not available here. */
const give = async (where: Locator, type: 'paste' | 'drop', name: string): Promise<void> => {
  await where.focus();
  await where.page().evaluate(`{
    const bytes = Uint8Array.from(atob('${PNG}'), (character) => character.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], '${name}', { type: 'image/png' }));
    const about = { clipboardData: data, dataTransfer: data, bubbles: true, cancelable: true };
    const event = '${type}' === 'paste' ? new ClipboardEvent('paste', about) : new DragEvent('drop', about);
    document.activeElement.dispatchEvent(event);
  }`);
};

const isDrawn = async (image: Locator): Promise<boolean> => {
  await image.waitFor();
  // The browser type of the element is not available here.
  return image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth > 0);
};

const choose = (page: Page, name: string, mimeType: string, bytes: Buffer): Promise<void> =>
  page.locator('input[type=file]').first().setInputFiles({ name, mimeType, buffer: bytes });

const fileBlock = (type: string, media_type: string, title: string, data: string) => ({
  type,
  title,
  source: { type: 'base64', media_type, data },
});

/** Each byte once, so that no conversion of text leaves the file unchanged. */
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');

export const onFiles = async (t: Test, house: House): Promise<void> => {
  t.test('carries the files of messages into forks and edits byte for byte', async (t) => {
    const { troupe } = house;
    const id = 'files-in-forks';
    const picture = fileBlock('image', 'image/png', 'cat.png', PNG);
    const link = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } };
    const sound = fileBlock('audio', 'audio/wav', 'a.wav', BYTES);
    for (const content of [
      [
        { type: 'text', text: 'Look' },
        picture,
        fileBlock('document', 'application/pdf', 'b.pdf', BYTES),
        link,
      ],
      [{ type: 'text', text: 'Listen' }, sound],
    ])
      await troupe.runToEnd({ agentId: 'echo', threadId: id, messages: [{ role: 'user', content }] });
    /** The files of the thread by message. */
    const filesOf = async (thread: string): Promise<unknown[]> => {
      const { messages } = await read(troupe, `/v1/threads/${thread}/messages?limit=10`);
      return Object(messages).map(({ content }: { content: object[] }) =>
        content.filter((block) => 'source' in block),
      );
    };
    const original = await filesOf(id);
    t.strictSame(original[2], [sound]);

    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go(`/playground?agent=echo&thread=${id}`);
    await page.getByText('echo: Listen').waitFor();
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('Edit and ask again').last().click();
    await page.getByLabel('Edited message').fill('Listen again');
    await page.getByLabel('a.wav').waitFor();
    await button('Ask in a fork').click();
    await page.getByText('echo: Listen again').waitFor();
    const edited = new URL(page.url()).searchParams.get('thread') ?? '';
    t.not(edited, id);
    t.strictSame(await filesOf(edited), original);
    t.ok(await isDrawn(page.getByRole('img', { name: 'cat.png' })));

    await button('Edit and ask again').last().click();
    await page.getByLabel('Edited message').fill('Listen once more');
    await button('Ask again').click();
    await page.getByText('echo: Listen once more').waitFor();
    t.strictSame((await filesOf(edited))[2], [sound], 'an edit keeps the files');

    await go(`/threads/${id}`);
    const said = page.locator('li').filter({ has: page.getByText('Listen', { exact: true }) });
    await said.getByRole('button', { name: 'Fork here' }).click();
    const dialog = page.getByRole('dialog', { name: 'Continue in a fork' });
    await dialog.getByLabel('a.wav').waitFor();
    await dialog.getByRole('button', { name: 'Ask in a fork' }).click();
    await page.waitForURL((url) => url.searchParams.get('beside') === id);
    const fork = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await eventually(
      () => filesOf(fork),
      (files) => files.length === 4,
    );
    t.strictSame(await filesOf(fork), original);
  });

  t.test('uploads, previews and deletes files, and lists those of a thread', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/files');
    await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor();
    await choose(page, 'note.txt', 'text/plain', Buffer.from('Seven degrees in Oslo'));
    const drawer = page.getByRole('dialog', { name: 'note.txt' });
    await drawer.getByText('Seven degrees in Oslo').waitFor();
    await drawer.getByText('21 bytes').waitFor();
    await page.keyboard.press('Escape');
    await choose(page, 'dot.png', 'image/png', Buffer.from(PNG, 'base64'));
    t.ok(await isDrawn(page.getByRole('dialog', { name: 'dot.png' }).getByRole('img', { name: 'dot.png' })));
    await page.keyboard.press('Escape');
    const row = page.getByRole('row', { name: 'note.txt' });
    await row.getByRole('button', { name: /^Actions of/ }).click();
    await page.getByRole('menuitem', { name: 'Delete file' }).click();
    await page
      .getByRole('dialog', { name: 'Delete "note.txt"?' })
      .getByRole('button', { name: 'Delete file' })
      .click();
    await row.waitFor({ state: 'detached' });
    const title = 'large.txt';
    const content = [
      fileBlock('document', 'text/plain', title, Buffer.alloc(30_000, 'a').toString('base64')),
    ];
    const body = { agentId: 'echo', threadId: 'with-a-file', messages: [{ role: 'user', content }] };
    await house.troupe.runToEnd(body);
    await go('/files?thread=with-a-file');
    await page.getByRole('row', { name: title }).waitFor();
    t.equal(await page.getByRole('row', { name: 'dot.png' }).count(), 0);
  });

  for (const theme of ['light', 'dark'] as const) {
    t.test(
      `pastes, drops, selects and removes files, and shows the files of a message (${theme})`,
      async (t) => {
        const { page, go } = await house.visit(t, { stored: { 'troupe.admin.theme': theme } });
        await go('/playground?agent=default');
        await page.locator(`html[data-theme="${theme}"]`).waitFor();
        const main = page.locator('main');
        const field = main.getByPlaceholder('Type a message…');
        await give(field, 'paste', 'pasted.png');
        await give(field, 'drop', 'dropped.png');
        await choose(page, 'note.txt', 'text/plain', Buffer.from('Hello'));
        const chosen = main.getByTestId('sandbox-selected-files').getByRole('listitem');
        await chosen.nth(2).waitFor();
        t.strictSame(await chosen.locator('span').allTextContents(), [
          'pasted.png',
          'dropped.png',
          'note.txt',
        ]);
        t.equal(await chosen.locator('img').count(), 2, 'images are previewed');
        t.ok(await isDrawn(chosen.locator('img').first()));
        await main.getByRole('button', { name: 'Remove dropped.png' }).click();
        t.equal(await chosen.count(), 2);
        await field.fill('Look');
        await main.getByRole('button', { name: 'Send' }).click();
        await main.getByText('Scripted response').waitFor();
        t.ok(
          await isDrawn(main.getByRole('article', { name: 'User' }).getByRole('img', { name: 'pasted.png' })),
        );
        await main.getByRole('link', { name: 'note.txt' }).waitFor();
      },
    );

    t.test(`shows images, audio and other files in the messages of a thread (${theme})`, async (t) => {
      const { troupe } = house;
      const id = `files-${theme}`;
      const link = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } };
      const content = [
        { type: 'text', text: 'Look' },
        fileBlock('image', 'image/png', 'cat.png', PNG),
        fileBlock('document', 'application/pdf', 'spec.pdf', 'UklGRg=='),
        link,
      ];
      await troupe.runToEnd({ agentId: 'default', threadId: id, messages: [{ role: 'user', content }] });
      const { page, go } = await house.visit(t, { stored: { 'troupe.admin.theme': theme } });
      await go(`/threads/${id}`);
      t.ok(await isDrawn(page.getByRole('img', { name: 'cat.png' })));
      await page.getByRole('link', { name: 'spec.pdf' }).waitFor();
      await page.getByText('https://a.example/b.png').waitFor();
      const field = page.getByLabel('Send a message to this thread');
      await give(field, 'paste', 'second.png');
      await page.getByTestId('sandbox-selected-files').getByText('second.png').waitFor();
      await page.locator('input[type=file]').setInputFiles(
        Array.from({ length: 5 }, (_, n) => ({
          name: `${n}.txt`,
          mimeType: 'text/plain',
          buffer: Buffer.from('a'),
        })),
      );
      await page.getByText('at most 4 files').waitFor();
      await page.getByRole('button', { name: 'Send' }).click();
      t.ok(await isDrawn(page.getByRole('img', { name: 'second.png' })));
      const { body } = await eventually(
        () => troupe.call('GET', `/v1/threads/${id}/messages`),
        ({ body: { total } }) => total === 4,
      );
      t.match(body.messages, { 2: { content: [{ ...fileBlock('image', 'image/png', 'second.png', PNG) }] } });
    });
  }
};
