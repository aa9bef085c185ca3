/** A parsed line of the log. */
export type Entry = {
  level: string;
  time: Date;
  event: string;
  msg: string;
  fields: Record<string, unknown>;
};

/** Returns undefined for a line that is not a log entry. */
export const parseEntry = (line: string): Entry | undefined => {
  let read: unknown;
  try {
    read = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof read !== 'object' || read === null) return undefined;
  const { level, time, event, msg, ...fields }: Record<string, unknown> = { ...read };
  if (typeof level !== 'string' || typeof time !== 'string') return undefined;
  return {
    level,
    time: new Date(time),
    event: typeof event === 'string' ? event : '',
    msg: typeof msg === 'string' ? msg : '',
    fields,
  };
};

export const textAt = ({ fields }: Entry, name: string): string | undefined => {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
};

export const numberAt = ({ fields }: Entry, name: string): number | undefined => {
  const value = fields[name];
  return typeof value === 'number' ? value : undefined;
};
