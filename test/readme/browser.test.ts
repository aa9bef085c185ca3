import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { CHROMIUM, hasChromium, startSite } from '../examples/pages.ts';
import { ADMIN_TOKEN, startDemo } from '../service/troupe.ts';

/** The component that the README shows, on a page of its own in a real browser. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [component = ''] = [
  ...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/```tsx\n([\s\S]*?)```/g),
].map(([, text]) => text ?? '');

const HTML = '<!doctype html><div id="root"></div><script type="module" src="./main.tsx"></script>';

/** The address of the service is in that of the page. */
const SERVICE = "new URLSearchParams(location.search).get('service') ?? ''";

const MAIN = `
${component
  .replace("'http://127.0.0.1:38080'", SERVICE)
  .replace("'troupe/react'", JSON.stringify(join(ROOT, 'src/react/index.ts')))}
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
createRoot(document.getElementById('root')).render(createElement(Chat, { thread: 'T' }));
`;

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  const root = join(ROOT, '.tap', 'readme-page');
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'chat'), { recursive: true });
  writeFileSync(join(root, 'chat', 'index.html'), HTML);
  writeFileSync(join(root, 'chat', 'main.tsx'), MAIN);
  const { origin, browser } = await startSite(t, { root, pages: ['chat'] });

  t.test('the component talks to an agent', async (t) => {
    const troupe = await startDemo(t, {
      settings: { AdminApiConfig: { bearer_token: ADMIN_TOKEN, cors_allowed_origins: [origin] } },
    });
    const page = await browser.newPage();
    page.on('pageerror', (error) => t.fail(`the page threw: ${error}`));
    await page.goto(`${origin}/chat/?service=${troupe.url}`);
    await page.getByRole('button', { name: 'ready' }).click();
    await page.getByText('assistant: Scripted response to: Hello').waitFor();
    await page.getByRole('button', { name: 'ready' }).waitFor();
    t.pass('the answer is there');
  });
}
