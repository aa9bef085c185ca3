import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Unavailable } from '../../schema/outcome.ts';
import { findBeyond, type Roots } from './pages.ts';

/**
 * Checks the header of a data file before LMDB maps it: a truncated file, or one in another format, crashes the process
 * without a message.
 *
 * The first two pages are copies of the heads of the last two transactions; the middle of the first page contains a
 * third head, of the last flushed transaction. LMDB continues from the newest head, or after a reboot of the host from
 * the flushed one, and every page that the head refers to must exist. A file may end before the last page number if the
 * pages after its end are free; only in this case all pages in use are checked.
 */

const MAGIC = 0xbeefc0de;
const DATA_VERSIONS: readonly number[] = [1, 2];
const META_FLAG = 0x08;
const FLAGS_AT = 18;
const META_AT = 24;
const META_BYTES = 144;
/** Flag of the free list: its transaction was not flushed yet. */
const UNFLUSHED = 0x1000;

/** The head of a transaction. */
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
    // Read last, since the file of a running service may grow in between.
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

const cutOff = (bytes: number): string => `ends after ${bytes} bytes, within the header of a store`;

/** Returns the head that LMDB will continue from. */
export const metaInUse = (
  { metas: [first, second, flushed] }: DataFile,
  boot = bootId(),
): Meta | undefined => {
  const newest = first && second && second.txnid > first.txnid ? second : first;
  if (!newest || !flushed || flushed.txnid === 0) return newest;
  if (!newest.unflushed || (newest.boot !== 0n && newest.boot === boot)) return newest;
  return flushed;
};

/** Computed as in LMDB: the first hexadecimal digits of the boot id of the host. */
const bootId = (): bigint => {
  try {
    const [digits = '0'] = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').split('-');
    return BigInt(`0x${digits}`);
  } catch {
    return 0n;
  }
};

/** @throws Unavailable when LMDB could not continue from the file */
export const checkDataFile = (dir: string): void => {
  const file = join(dir, 'data.mdb');
  if (!existsSync(file)) return;
  const damage: Damage = (what) =>
    new Unavailable(
      `data directory '${dir}' has a data.mdb that ${what}: restore a backup, or choose another directory`,
    );
  if (statSync(file).size === 0)
    throw damage('is empty: its data is lost (delete the file if it never had data)');
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
