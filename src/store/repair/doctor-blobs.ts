import { BLOBS, blobNames, blobsIn, examineBlob } from '../engine/blob-folder.ts';
import type { DoctorTables, Note } from './doctor-tables.ts';

/**
 * Compares the folder of blobs with the files that name them, and each blob with its name.
 *
 * Cost: reads every blob once.
 */
export type BlobsReport = {
  /** Blobs that a file names. */
  named: number;
  /** Blobs that no file names, such as those of deleted files within the grace period. The service removes them. */
  orphaned: number;
};

export const examineBlobs = async (dir: string, tables: DoctorTables, note: Note): Promise<BlobsReport> => {
  const blobs = blobsIn(dir);
  const rows = tables.get(BLOBS);
  const report: BlobsReport = { named: 0, orphaned: 0 };
  const files = tables.get('files');
  let last = '';
  for (const key of rows?.keys() ?? []) {
    const [sha256 = '', id = ''] = key.map(String);
    if (sha256 === last) continue;
    last = sha256;
    report.named += 1;
    // A row without its file is a finding of the derived rows.
    if (!files?.rows.doesExist([id])) continue;
    const state = await examineBlob(blobs, sha256);
    if (state === 'missing') note('a file without its content', 'files', [id]);
    if (state === 'wrong') note('a file whose content differs from its hash', 'files', [id]);
  }
  for await (const name of blobNames(blobs)) if (!isNamed(rows?.rows, name)) report.orphaned += 1;
  return report;
};

const isNamed = (rows: { getKeysCount(range: object): number } | undefined, sha256: string): boolean =>
  (rows?.getKeysCount({ start: [sha256], end: [`${sha256}~`], limit: 1 }) ?? 0) > 0;
