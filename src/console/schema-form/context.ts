import { createContext, useContext } from 'react';
import type { Schema } from './schema.ts';

/** What every part of one form knows. */

/** Texts that are typed in the place of a value and are no JSON yet, by the place of the value. */
export type Unread = Readonly<Record<string, string>>;

export type FormContext = {
  root: Schema;
  /** What is wrong, by place. */
  errors: ReadonlyMap<string, string>;
  unread: Unread;
  onUnread: (path: string, text: string | undefined) => void;
  /** What is typed there or below is gone. */
  forget: (path: string) => void;
};

export const Form = createContext<FormContext>({
  root: {},
  errors: new Map(),
  unread: {},
  onUnread: () => {},
  forget: () => {},
});

export const useForm = (): FormContext => useContext(Form);

/** @param text undefined: it is JSON, or is gone */
export const withUnread = (unread: Unread, path: string, text: string | undefined): Unread => {
  const { [path]: _, ...others } = unread;
  return text === undefined ? others : { ...others, [path]: text };
};

/** At a place, or below it. */
export const unreadAt = (unread: Unread, path: string): string[] =>
  Object.keys(unread).filter((field) => field === path || field.startsWith(`${path}.`));
