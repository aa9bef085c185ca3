import t from 'tap';
import { readPackage } from '../../.build/licenses.ts';

/** The license texts of bundled packages: the build fails when one is missing. */

const folder = t.testdir({
  whole: { 'package.json': '{"name":"whole","version":"1.0.0","license":"ISC"}', LICENSE: 'The text\n' },
  textless: { 'package.json': '{"name":"textless","version":"1.0.0","license":"ISC"}' },
  fallback: { 'package.json': '{"name":"fallback","version":"1.0.0","license":"MIT","author":"Ada"}' },
  unlicensed: { 'package.json': '{"name":"unlicensed","version":"1.0.0"}', LICENSE: 'The text' },
});

const texts = new Map([['MIT', 'MIT License\n\nCopyright (c) Others']]);

t.test('reads the text that a package contains', async (t) => {
  t.match(readPackage('whole', texts, folder), { name: 'whole', license: 'ISC', text: 'The text' });
});

t.test('inserts the author into the text of a package without one', async (t) => {
  t.equal(readPackage('fallback', texts, folder).text, 'MIT License\n\nCopyright (c) Ada');
});

t.test('rejects a package without a license identifier or text', async (t) => {
  t.throws(() => readPackage('textless', texts, folder), {
    message: 'textless has no license text, and none is known for ISC',
  });
  t.throws(() => readPackage('unlicensed', texts, folder), {
    message: 'unlicensed names no license in its package.json',
  });
});
