import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '../schema/outcome.ts';
import { findBeyond, type Roots } from './pages.ts';

/**
 * What a data file says of itself, read before LMDB maps it: a file that ends early, or is something else, brings
 * the process down without a word.
 *
 * The first two pages are copies of the heads of the last two transactions; in the middle of the first one is a
 * third, of the last transaction that was flushed. LMDB goes on from the newest, or after a new start of the
 * machine from the flushed one, and every page that it refers to has to be there. A file may end before the last
 * page number, when the pages behind its end are free; then, and only then, all pages in use are looked at.
 */

const MAGIC = 0xbeefc0de;
const DATA_VERSIONS: readonly number[] = [1, 2];
const META_FLAG = 0x08;
const FLAGS_AT = 18;
const META_AT = 24;
const META_BYTES = 144;
/** Of the flags of the free list: its transaction was not flushed yet. */
const UNFLUSHED = 0x1000;

/** A head of a transaction. */
export type Meta = Roots & { txnid: number; last_page: number; unflushed: boolean; boot: bigint };

export type DataFile = { bytes: number; page_bytes: number; metas: Meta[] };

const number = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at));

const metaIn = (bytes: Buffer): Meta => ({
  free_root: bytes.readBigUInt64LE(64),
  main_root: bytes.readBigUInt64LE(112),
  last_page: number(bytes, 120),
  txnid: number(bytes, 128),
  boot: bytes.readBigInt64LE(136),
  unflushed: (bytes.readUInt16LE(28) & UNFLUSHED) !== 0,
});

type Damage = (what: string) => Unavailable;

/** @throws Unavailable when it is not a data file of LMDB, or is shorter than its own heads */
export const readDataFile = (file: string, damage: Damage): DataFile => {
  const descriptor = openSync(file, 'r');
  try {
    const page = (at: number): Buffer => {
      const found = Buffer.alloc(META_AT + META_BYTES);
      if (readSync(descriptor, found, 0, found.length, at) < found.length)
        throw damage(cutOff(fstatSync(descriptor).size));
      return found;
    };
    const head = page(0);
    if (!isMeta(head)) throw damage('is not a store, or its first page is overwritten');
    const page_bytes = head.readUInt32LE(META_AT + 24);
    if (!isPageSize(page_bytes)) throw damage(`has pages of ${page_bytes} bytes, which no store has`);
    const second = page(page_bytes);
    if (!isMeta(second)) throw damage('has a second page that is overwritten');
    const metas = [head, second, page(page_bytes / 2)].map((found) => metaIn(found.subarray(META_AT)));
    // Last, since the file of a running service may grow meanwhile.
    return { bytes: fstatSync(descriptor).size, page_bytes, metas };
  } finally {
    closeSync(descriptor);
  }
};

const isMeta = (page: Buffer): boolean =>
  (page.readUInt16LE(FLAGS_AT) & META_FLAG) !== 0 &&
  page.readUInt32LE(META_AT) === MAGIC &&
  DATA_VERSIONS.includes(page.readUInt32LE(META_AT + 4) & 0xffff);

const isPageSize = (bytes: number): boolean => bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;

const cutOff = (bytes: number): string => `ends after ${bytes} bytes, before what every store begins with`;

/** The head that LMDB will go on from. */
export const metaInUse = (
  { metas: [first, second, flushed] }: DataFile,
  boot = bootId(),
): Meta | undefined => {
  const newest = first && second && second.txnid > first.txnid ? second : first;
  if (!newest || !flushed || flushed.txnid === 0) return newest;
  if (!newest.unflushed || (newest.boot !== 0n && newest.boot === boot)) return newest;
  return flushed;
};

/** As LMDB makes it: the first hexadecimal digits of the id of this start of the machine. */
const bootId = (): bigint => {
  try {
    const [digits = '0'] = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').split('-');
    return BigInt(`0x${digits}`);
  } catch {
    return 0n;
  }
};

/** @throws Unavailable when LMDB could not go on from the file */
export const checkDataFile = (dir: string): void => {
  const file = join(dir, 'data.mdb');
  if (!existsSync(file)) return;
  const damage: Damage = (what) =>
    new Unavailable(
      `storage folder '${dir}' has a data.mdb that ${what}: restore a backup, or choose another folder`,
    );
  if (statSync(file).size === 0)
    throw damage('is empty, so what was stored is gone (delete it if nothing was)');
  const data = readDataFile(file, damage);
  const meta = metaInUse(data);
  const whole = Math.floor(data.bytes / data.page_bytes);
  if (!meta || whole > meta.last_page) return;
  const beyond = findBeyond(file, data, meta);
  if (beyond === undefined) return;
  throw damage(
    `is cut off: page ${beyond} of ${meta.last_page + 1} is in use, and the file ends after ${whole}`,
  );
};
