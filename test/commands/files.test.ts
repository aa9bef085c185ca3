import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runHere } from '../e2e/in-process.ts';
import { ADMIN_TOKEN, startTroupe } from '../service/troupe.ts';

/** `troupe files` (openai.md 9). */

const ADMIN = { SERVICE_ADMIN_API_BEARER_TOKEN: ADMIN_TOKEN };

t.test('uploads, lists, downloads and deletes files of a running service', async (t) => {
  const { url } = await startTroupe(t, { settings: { files: { max_bytes: 1000 } } });
  const folder = t.testdir({ 'a.csv': 'a,b', 'b.txt': 'text', 'large.bin': 'x'.repeat(1001) });
  const at = (name: string): string => join(folder, name);
  const files = (...args: string[]) => runHere(['files', ...args, '--url', url], ADMIN);

  const put = await files('put', at('a.csv'), at('b.txt'), '--purpose', 'vision', '--expires', '2h');
  t.match(put, { code: 0, output: /^file-[0-9a-f]{32}\nfile-[0-9a-f]{32}\n$/, errors: '' });
  const [csv = '', text = ''] = put.output.trim().split('\n');
  const record = await files('get', csv, '--json');
  const { created_at, expires_at, ...file } = JSON.parse(record.output);
  t.match(file, { id: csv, filename: 'a.csv', media_type: 'text/csv', bytes: 3, purpose: 'vision' });
  t.equal(expires_at - created_at, 7200);
  t.match(await files('get', csv), { code: 0, output: 'a,b' });

  const named = await files('put', at('b.txt'), '--name', 'c.md', '--type', 'text/x-notes', '--json');
  t.match(JSON.parse(named.output), { filename: 'c.md', media_type: 'text/x-notes', expires_at: null });
  const lines = (await files('list', '--json')).output.trim().split('\n');
  t.match(
    lines.map((line) => JSON.parse(line).id),
    [JSON.parse(named.output).id, text, csv],
  );
  t.match(
    (await files('list', '--purpose', 'vision')).output,
    /file-\w+ +4 .* vision {2}text\/plain {2}"b.txt"\n/,
  );

  t.match(await files('get', csv, '--output', at('copy.csv')), { code: 0, output: '' });
  t.equal(readFileSync(at('copy.csv'), 'utf8'), 'a,b');
  writeFileSync(at('copy.csv'), 'changed');
  t.match(await files('get', csv, '--output', at('copy.csv')), { code: 1, errors: /EEXIST/ });
  t.equal(readFileSync(at('copy.csv'), 'utf8'), 'changed', 'an existing file is kept');

  t.match(await files('rm', csv, text), { code: 0, output: '', errors: '' });
  t.match(await files('rm', csv), { code: 1, errors: `No such File object: ${csv}\n` });
  t.match(await files('get', csv, '--output', at('none')), { code: 1, errors: /No such File object/ });
  t.notOk(existsSync(at('none')));
  t.match(await files('put', at('large.bin')), { code: 1, errors: /larger than 1000 bytes/ });
  t.match(await files('put', at('missing')), { code: 1, errors: /missing: the file cannot be read/ });
  t.match(await files('put', at('b.txt'), '--expires', '1m'), { code: 1, errors: /expires_after/ });
  t.match(await files('put', at('b.txt'), '--purpose', 'none'), { code: 1, errors: /Allowed choices/ });
  t.match(await files('put', at('a.csv'), at('b.txt'), '--name', 'x'), { code: 1, errors: /--name/ });
  t.match(await runHere(['files', 'list', '--url', url]), { code: 2, errors: /an admin token is required/ });
});
