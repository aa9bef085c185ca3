import { createWriteStream, openAsBlob, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import { DeletedFile, FileList, FilePurpose, StoredFile } from '../schema/file.ts';
import { Invalid } from '../schema/outcome.ts';
import { type AdminClient, addressed, type Connection, connectAdmin } from './admin-client.ts';
import { duration } from './duration.ts';
import { guarded } from './usage.ts';

/** `troupe files`: uploads, lists, downloads and deletes files of a running service (openai.md 9). */

type Purposed = Connection & { purpose?: FilePurpose; json?: boolean };
type PutOptions = Purposed & { purpose: FilePurpose; name?: string; type?: string; expires?: number };
type GetOptions = Connection & { output?: string; json?: boolean };

export const filesCommand = new Command('files').description('manage files that messages refer to');

const purposeOption = (text: string): Option =>
  new Option('--purpose <purpose>', text).choices(FilePurpose.options);

addressed(filesCommand.command('list'))
  .description('list files, newest first')
  .addOption(purposeOption('only files with this purpose'))
  .option('--json', 'print one JSON object per line')
  .action(
    guarded(async ({ purpose, json, ...connection }: Purposed) => {
      for await (const file of everyFile(connectAdmin(connection), purpose))
        process.stdout.write(`${json ? JSON.stringify(file) : describeFile(file)}\n`);
    }),
  );

const AFTER_PUT = `
Prints the id of each file on standard output, so that ID=$(troupe files put report.pdf) holds it.`;

addressed(filesCommand.command('put'))
  .description('upload files')
  .argument('<paths...>', 'files to upload')
  .addOption(purposeOption('purpose of the files').default('user_data'))
  .option('--name <name>', 'name of a single file; default: that of its path')
  .option('--type <type>', 'media type, such as text/csv; default: by the suffix of the name')
  .option('--expires <time>', 'time after which the files expire, such as 7d: 1h to 30d', duration)
  .option('--json', 'print the files as JSON, one object per line')
  .addHelpText('after', AFTER_PUT)
  .action(
    guarded(async (paths: string[], { purpose, name, type, expires, json, ...connection }: PutOptions) => {
      if (name !== undefined && paths.length > 1) throw new Invalid('--name: give a single file');
      const { ask } = connectAdmin(connection);
      for (const path of paths) {
        const form = new FormData();
        form.append('purpose', purpose);
        if (expires !== undefined) {
          form.append('expires_after[anchor]', 'created_at');
          form.append('expires_after[seconds]', String(expires));
        }
        form.append('file', await openPath(path, type), name ?? basename(path));
        const file = await ask('POST', FILES, { form, schema: StoredFile });
        process.stdout.write(`${json ? JSON.stringify(file) : file.id}\n`);
      }
    }),
  );

addressed(filesCommand.command('get'))
  .description('print the content of a file, or its record')
  .argument('<id>', 'id of the file')
  .option('--output <path>', 'write the content to this file, which must not exist')
  .option('--json', 'print the record of the file as JSON, without its content')
  .action(
    guarded(async (id: string, { output, json, ...connection }: GetOptions) => {
      const { ask, open } = connectAdmin(connection);
      if (json) {
        const file = await ask('GET', [...FILES, id], { schema: StoredFile });
        process.stdout.write(`${JSON.stringify(file)}\n`);
      } else await save(await open([...FILES, id, 'content']), output);
    }),
  );

addressed(filesCommand.command('rm'))
  .description('delete files; messages that refer to them then contain a note')
  .argument('<ids...>', 'ids of the files')
  .option('--json', 'print one JSON object per line')
  .action(
    guarded(async (ids: string[], { json, ...connection }: Connection & { json?: boolean }) => {
      const { ask } = connectAdmin(connection);
      for (const id of ids) {
        const deleted = await ask('DELETE', [...FILES, id], { schema: DeletedFile });
        if (json) process.stdout.write(`${JSON.stringify(deleted)}\n`);
      }
    }),
  );

const FILES = ['v1', 'files'];

async function* everyFile(
  { ask }: AdminClient,
  purpose: FilePurpose | undefined,
): AsyncGenerator<StoredFile, void> {
  for (let after: string | null = ''; after !== null; ) {
    const query = new URLSearchParams({
      limit: '100',
      ...(purpose !== undefined && { purpose }),
      ...(after !== '' && { after }),
    });
    const page: FileList = await ask('GET', FILES, { query: `?${query}`, schema: FileList });
    yield* page.data;
    after = page.has_more ? page.last_id : null;
  }
}

/** The bytes are read while they are sent. @throws Invalid */
const openPath = async (path: string, type = ''): Promise<Blob> => {
  try {
    return await openAsBlob(path, { type });
  } catch (cause) {
    throw new Invalid(`${path}: the file cannot be read (${messageOf(cause)})`, { cause });
  }
};

/** A file that is not complete is removed. @throws Invalid */
const save = async (content: ReadableStream<Uint8Array>, output: string | undefined): Promise<void> => {
  // The types of Node and of the platform name one class.
  const source = Readable.fromWeb(content as Parameters<typeof Readable.fromWeb>[0]);
  if (output === undefined) {
    await pipeline(source, process.stdout, { end: false });
    return;
  }
  let isCreated = false;
  const target = createWriteStream(output, { flags: 'wx' }).once('open', () => {
    isCreated = true;
  });
  await pipeline(source, target).catch((cause) => {
    if (isCreated) rmSync(output, { force: true });
    throw new Invalid(`${output}: the content cannot be written (${messageOf(cause)})`, { cause });
  });
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const describeFile = ({
  id,
  bytes,
  created_at,
  expires_at,
  purpose,
  media_type,
  filename,
}: StoredFile): string =>
  [
    id,
    String(bytes).padStart(9),
    new Date(created_at * 1000).toISOString(),
    expires_at === null ? 'never expires' : `expires ${new Date(expires_at * 1000).toISOString()}`,
    purpose,
    media_type,
    JSON.stringify(filename),
  ].join('  ');
