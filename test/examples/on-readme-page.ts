import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { ADMIN_TOKEN, startDemo } from '../service/troupe.ts';
import type { Site } from './pages.ts';

/** The component that the README shows, on a page of its own. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const HTML = '<!doctype html><div id="root"></div><script type="module" src="./main.tsx"></script>';

/** The address of the service is in that of the page. */
const SERVICE = "new URLSearchParams(location.search).get('service') ?? ''";

const program = (component: string): string => `
${component
  .replace("'http://127.0.0.1:38080'", SERVICE)
  .replace("'troupe/react'", JSON.stringify(join(ROOT, 'src/react/index.ts')))}
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
createRoot(document.getElementById('root')).render(createElement(Chat, { thread: 'T' }));
`;

/** Writes the page. Returns its folder. */
export const writeReadmePage = (t: Test): string => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, component = ''] = /```tsx\n([\s\S]*?)```/.exec(readme) ?? [];
  // In the checkout, where it finds the packages that it imports.
  const folder = join(ROOT, '.tap', 'readme-page');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.html'), HTML);
  writeFileSync(join(folder, 'main.tsx'), program(component));
  return folder;
};

export const testReadmePage = (t: Test, { origin, tabs }: Site): void => {
  t.test('the component of the README talks to an agent', async (t) => {
    const troupe = await startDemo(t, {
      settings: { AdminApiConfig: { bearer_token: ADMIN_TOKEN, cors_allowed_origins: [origin] } },
    });
    const page = await tabs.open(t, `${origin}/readme-page/?service=${troupe.url}`);
    await page.getByRole('button', { name: 'ready' }).click();
    await page.getByText('assistant: Scripted response to: Hello').waitFor();
    await page.getByRole('button', { name: 'ready' }).waitFor();
    t.pass('the answer is there');
  });
};
