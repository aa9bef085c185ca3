import t from 'tap';
import {
  DEEPEST,
  isTooDeep,
  MOST_KEY_BYTES,
  MOST_VALUES,
  scanJson,
  startScan,
} from '../../src/schema/nesting.ts';

const nested = (levels: number): unknown => {
  let value: unknown = 'core';
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
};

t.test('limits the depth of values', (t) => {
  for (const value of [undefined, null, 1, 'x', [], {}, nested(DEEPEST)]) t.equal(isTooDeep(value), false);
  for (const levels of [DEEPEST + 1, 100_000]) t.equal(isTooDeep(nested(levels)), true);
  t.equal(isTooDeep([1, { a: nested(DEEPEST) }]), true, 'the position of a deep value does not matter');
  t.equal(
    isTooDeep(Array.from({ length: 100_000 }, () => ({ a: [1] }))),
    false,
    'the number of values does not count as depth',
  );
  t.end();
});

t.test('treats a cyclic value as too deep', (t) => {
  const own: Record<string, unknown> = {};
  own.own = { list: [own] };
  t.equal(isTooDeep(own), true);
  t.end();
});

/** Scans the bytes in chunks of this size. */
const scanned = (text: string, piece = Number.POSITIVE_INFINITY): string | undefined => {
  const scan = startScan();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += piece) {
    const excess = scanJson(scan, bytes.subarray(at, at + piece));
    if (excess !== undefined) return excess;
  }
  return undefined;
};

const TOO_MANY = `has more than ${MOST_VALUES} values and keys`;
const TOO_DEEP = `nests deeper than ${DEEPEST} levels`;

t.test('limits the depth of a text with any chunk size', (t) => {
  for (const piece of [1, 2, 3, 1000]) {
    t.equal(scanned(JSON.stringify(nested(DEEPEST)), piece), undefined);
    t.equal(scanned(JSON.stringify(nested(DEEPEST + 1)), piece), TOO_DEEP);
  }
  const closed = '[],'.repeat(DEEPEST);
  t.equal(
    scanned(`[${closed}${JSON.stringify(nested(DEEPEST - 1))}]`),
    undefined,
    'closed values do not count',
  );
  t.equal(
    scanned(`[${closed}${JSON.stringify(nested(DEEPEST))}]`),
    TOO_DEEP,
    'excess closing brackets do not reduce the depth',
  );
  t.equal(scanned('['.repeat(10_000_000)), TOO_DEEP, 'invalid JSON is limited too');
  t.end();
});

t.test('counts values and keys of a text of any type', (t) => {
  const list = (item: string, count: number): string => `[${Array(count).fill(item).join(',')}]`;
  const object = (count: number): string =>
    `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`;
  t.equal(scanned(list('1', MOST_VALUES - 1)), undefined);
  t.equal(scanned(list('1', MOST_VALUES)), TOO_MANY, 'the list itself counts');
  t.equal(scanned(list('""', MOST_VALUES)), TOO_MANY);
  t.equal(scanned(object(MOST_VALUES / 2 - 1)), undefined);
  t.equal(scanned(object(MOST_VALUES / 2)), TOO_MANY, 'keys count');
  t.equal(
    scanned(list('[]', MOST_VALUES / 2)),
    TOO_MANY,
    'empty lists count twice: they cost more than their bytes',
  );
  t.equal(
    scanned(`{"a":${list('1', MOST_VALUES - 4)},"b":1}`),
    TOO_MANY,
    'values are counted across the whole text',
  );
  t.end();
});

t.test('limits the total bytes of keys, but not of texts', (t) => {
  const TOO_LONG = `has keys of more than ${MOST_KEY_BYTES} bytes in total`;
  const long = 'k'.repeat(MOST_KEY_BYTES);
  const keys = (bytes: number): string =>
    `{${Array.from({ length: 1024 }, (_, index) => `"${String(index).padStart(bytes - 1, '0')}": 0`).join(',')}}`;
  for (const piece of [1000, MOST_KEY_BYTES * 4]) {
    t.equal(scanned(`{"${long}":1}`, piece), TOO_LONG);
    t.equal(
      scanned(`{"${'\\n'.repeat(MOST_KEY_BYTES / 2)}":1}`, piece),
      TOO_LONG,
      'keys are counted as written',
    );
    t.equal(scanned(keys(MOST_KEY_BYTES / 1024), piece), undefined);
    t.equal(scanned(keys(MOST_KEY_BYTES / 1024 + 1), piece), TOO_LONG);
    t.equal(scanned(`{"a":"${long}","b":["${long}"]}`, piece), undefined);
  }
  t.end();
});

t.test('ignores the content of strings in any notation', (t) => {
  const signs = '[{,:}]'.repeat(MOST_VALUES);
  for (const piece of [7, 4096]) {
    for (const text of [signs, `"${signs}`, `\\${signs}\\`, `${signs}\\"${signs}`, '\\'.repeat(1001)]) {
      t.equal(scanned(JSON.stringify({ text }), piece), undefined);
      t.equal(scanned(`[${JSON.stringify(text)},${'1,'.repeat(MOST_VALUES)}1]`, piece), TOO_MANY);
    }
  }
  t.end();
});

t.test('reads each byte once, and stops at the first excess', (t) => {
  let looks = 0;
  const watched = (text: string): Uint8Array =>
    new Proxy(new Uint8Array(Buffer.from(text)), {
      get(bytes, key) {
        if (key === 'length') return bytes.length;
        looks += 1;
        return bytes[Number(key)];
      },
    });
  for (const text of [
    `"${'x'.repeat(10_000)}"`,
    `"${'\\"'.repeat(5000)}"`,
    '1'.repeat(10_000),
    ' '.repeat(10_000),
    `[${'{},'.repeat(3000)}1]`,
  ]) {
    looks = 0;
    t.equal(scanJson(startScan(), watched(text)), undefined);
    t.ok(looks <= text.length, `${looks} looks at ${text.length} bytes`);
  }
  looks = 0;
  t.equal(scanJson(startScan(), watched(`[${'1,'.repeat(300_000)}`)), TOO_MANY);
  t.ok(looks <= 2 * MOST_VALUES + 2, `${looks} looks`);
  t.end();
});
