import { join } from 'node:path';
import t from 'tap';
import { buildManual } from '../../.build/manual.ts';
import { runHere } from '../e2e/in-process.ts';
import { ROOT } from '../run/places.ts';
import { startTroupe } from '../service/troupe.ts';

await buildManual();
const FOLDER = join(ROOT, 'dist/docs');

t.test('prints the address and the folder of the manual', async (t) => {
  const { url } = await startTroupe(t, { app: { manualFolder: FOLDER } });
  for (const given of [url, `${url}/`]) {
    const { code, output } = await runHere(['docs', '--url', given]);
    t.equal(code, 0);
    t.equal(output, `Manual    ${url}/docs\nMarkdown  ${FOLDER}\n`);
  }
});

t.test('reports that no service responds, and still prints the folder', async (t) => {
  const { url, app } = await startTroupe(t);
  await app.stop();
  const { code, output } = await runHere(['docs', '--url', url]);
  t.equal(code, 0);
  t.match(output, `Manual    ${url}/docs (no service responds; start one with troupe dev or troupe serve)\n`);
  t.match(output, `Markdown  ${FOLDER}\n`);
});

t.test('rejects an address that is no URL', async (t) => {
  const { code, errors } = await runHere(['docs', '--url', 'localhost']);
  t.equal(code, 2);
  t.equal(errors, "--url: 'localhost' is not an http or https URL\n");
});
