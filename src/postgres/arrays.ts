/**
 * Arrays in the binary format of PostgreSQL: a header, then each element with its length. A parameter that is a buffer
 * travels in that format, without being written as text and parsed by the server.
 */

const HEADER_BYTES = 20;
const INT2 = 21;
const INT8 = 20;
const TEXT = 25;
const NULL_LENGTH = -1;

/** Writes the header of an array of one dimension, or of none when it is empty, and returns where it ends. */
const writeHeader = (buffer: Buffer, type: number, length: number, hasNull: boolean): number => {
  let end = buffer.writeInt32BE(length === 0 ? 0 : 1, 0);
  end = buffer.writeInt32BE(hasNull ? 1 : 0, end);
  end = buffer.writeInt32BE(type, end);
  if (length === 0) return end;
  end = buffer.writeInt32BE(length, end);
  return buffer.writeInt32BE(1, end);
};

const EMPTY_BYTES = 12;

const allocate = (length: number, elementBytes: number): Buffer =>
  Buffer.allocUnsafe(length === 0 ? EMPTY_BYTES : HEADER_BYTES + elementBytes);

/** @throws RangeError for a number that is no signed 16-bit integer */
export const smallintArray = (values: readonly number[]): Buffer => {
  const buffer = allocate(values.length, values.length * 6);
  let end = writeHeader(buffer, INT2, values.length, false);
  for (const value of values) {
    end = buffer.writeInt32BE(2, end);
    end = buffer.writeInt16BE(value, end);
  }
  return buffer;
};

/** Lineages are `bigint`, times are numbers. @throws RangeError for a number that is no integer of its range */
export const bigintArray = (values: readonly (bigint | number | null)[]): Buffer => {
  let nulls = 0;
  for (const value of values) if (value === null) nulls += 1;
  const buffer = allocate(values.length, values.length * 12 - nulls * 8);
  let end = writeHeader(buffer, INT8, values.length, nulls > 0);
  for (const value of values) {
    if (value === null) {
      end = buffer.writeInt32BE(NULL_LENGTH, end);
      continue;
    }
    end = buffer.writeInt32BE(8, end);
    end = typeof value === 'bigint' ? buffer.writeBigInt64BE(value, end) : writeInteger(buffer, value, end);
  }
  return buffer;
};

/** Writes two halves: a `bigint` for each time would be garbage at once. */
const writeInteger = (buffer: Buffer, value: number, start: number): number => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no integer that a number can hold`);
  const middle = buffer.writeInt32BE(Math.floor(value / 2 ** 32), start);
  return buffer.writeUInt32BE(value >>> 0, middle);
};

export const textArray = (values: readonly (string | null)[]): Buffer => {
  let bytes = 0;
  let hasNull = false;
  const lengths = values.map((value) => {
    if (value === null) hasNull = true;
    const length = value === null ? NULL_LENGTH : Buffer.byteLength(value);
    bytes += 4 + Math.max(length, 0);
    return length;
  });
  const buffer = allocate(values.length, bytes);
  let end = writeHeader(buffer, TEXT, values.length, hasNull);
  for (const [index, value] of values.entries()) {
    end = buffer.writeInt32BE(lengths[index] ?? NULL_LENGTH, end);
    if (value !== null) end += buffer.write(value, end);
  }
  return buffer;
};
