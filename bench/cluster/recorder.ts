import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { socketIn } from '../../test/cluster/pgbouncer.ts';
import type { Postgres } from '../../test/cluster/postgres.ts';

/**
 * Stands between a member and its database, counts the statements of the member and records the rows of its commits.
 *
 * Relies on the named statement `troupe_commit_1`, whose parameters follow the id of the member and the number.
 */
export type Recorder = {
  readonly port: number;
  /** Statements since the last call. */
  takeCount(): number;
  /** The parameters of the commits since the last call, one array a commit, without member and number. */
  takeCommits(): readonly Buffer[][];
  close(): Promise<void>;
};

type Record = { statements: number; commits: Buffer[][] };

const COMMIT = 'troupe_commit_1';
/** Parameters that precede the rows. */
const LEADING = 2;

export const startRecorder = async (postgres: Postgres): Promise<Recorder> => {
  const record: Record = { statements: 0, commits: [] };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(socketIn(postgres.folder, postgres.port));
    const read = createReader(record);
    client.setNoDelay(true);
    client.on('data', (chunk) => {
      read(chunk);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => client.write(chunk));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      // Errors of a connection are followed by its close.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the recorder has no port');
  return {
    port: address.port,
    takeCount() {
      const { statements } = record;
      record.statements = 0;
      return statements;
    },
    takeCommits: () => record.commits.splice(0),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

/** Bytes of the length that every message has. */
const LENGTH_BYTES = 4;
const TYPE_BYTES = 1;

/** Reads the messages of one client. The first one has no type. */
const createReader = (record: Record): ((chunk: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = 0;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + LENGTH_BYTES) {
      const end = typeBytes + rest.readUInt32BE(typeBytes);
      if (rest.length < end) return;
      if (typeBytes > 0)
        note(record, rest.toString('latin1', 0, 1), rest.subarray(typeBytes + LENGTH_BYTES, end));
      rest = rest.subarray(end);
      typeBytes = TYPE_BYTES;
    }
  };
};

/** `Q` is a simple statement, `B` binds the parameters of a prepared one (PostgreSQL, message formats). */
const note = (record: Record, type: string, body: Buffer): void => {
  if (type !== 'Q' && type !== 'B') return;
  record.statements += 1;
  if (type === 'B') noteBind(record, body);
};

const noteBind = ({ commits }: Record, body: Buffer): void => {
  const portalEnd = body.indexOf(0);
  const nameEnd = body.indexOf(0, portalEnd + 1);
  if (body.toString('latin1', portalEnd + 1, nameEnd) !== COMMIT) return;
  const formats = body.readUInt16BE(nameEnd + 1);
  let at = nameEnd + 3 + formats * 2;
  const count = body.readUInt16BE(at);
  at += 2;
  const values: Buffer[] = [];
  for (let index = 0; index < count; index += 1) {
    const length = body.readInt32BE(at);
    at += LENGTH_BYTES;
    // A copy: the chunk may be large.
    values.push(Buffer.from(body.subarray(at, at + length)));
    at += length;
  }
  commits.push(values.slice(LEADING));
};
