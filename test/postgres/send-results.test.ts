import t from 'tap';
import { ConnectionLost, ServerError } from '../../src/postgres/errors.ts';
import { refusalOf, sendResultOf } from '../../src/postgres/send-results.ts';

/** Meanings of the errors of a commit (cluster.md 5.6). */

t.test('each error has one result', async (t) => {
  const rows: [string, string][] = [
    ['TR001', 'fenced'],
    ['TR002', 'behind'],
    ['TR003', 'faulty'],
    ['TR004', 'faulty'],
    ...['57P01', '57P02', '57P03', '57P05', '08000', '08006', '08P01', '53300'].map(
      (code): [string, string] => [code, 'lost'],
    ),
    ...['40001', '40P01', '55P03'].map((code): [string, string] => [code, 'contended']),
    ...['22021', '22P05', '54000', '23502', '23505'].map((code): [string, string] => [code, 'faulty']),
    ...['53100', '25006', '57P04', '57014', '42501', '26000', 'XX000'].map((code): [string, string] => [
      code,
      'unwritable',
    ]),
  ];
  for (const [code, result] of rows) t.equal(sendResultOf(new ServerError('', { code })), result, code);
  const taken = new ServerError('', { code: '23505', constraint: 'commit_pkey' });
  t.equal(sendResultOf(taken), 'taken');
  t.equal(sendResultOf(new ServerError('', { code: '23505', constraint: 'row_pkey' })), 'faulty');
  t.equal(sendResultOf(new ConnectionLost('', { wasSent: true })), 'lost');
  t.equal(sendResultOf(new ConnectionLost('', { wasSent: false })), 'unsent');
  t.equal(sendResultOf(new RangeError('no integer')), 'faulty');
});

t.test('a batch that is refused alone has a reason', async (t) => {
  t.equal(refusalOf(new ServerError('', { code: 'TR003' })), 'not-owner');
  t.equal(refusalOf(new ServerError('', { code: 'TR004' })), 'clash');
  t.equal(refusalOf(new ServerError('', { code: '22021' })), 'invalid');
  t.equal(refusalOf(new RangeError('no integer')), 'invalid');
});
