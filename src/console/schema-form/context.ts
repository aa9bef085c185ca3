import { type ComponentType, createContext, type ReactNode, useContext } from 'react';
import type { JsonObject } from '../data/guard.ts';
import type { Schema, Seen } from './schema.ts';

/** State that all parts of a form share. */

/** Typed texts that are not valid JSON yet, by the path of their value. */
export type Unread = Readonly<Record<string, string>>;

export type NodeProps = {
  schema: Schema;
  /** Presentation hints from `ui_schema`. */
  ui: JsonObject;
  label: string;
  path: string;
  value: unknown;
  isRequired: boolean;
  /** Called with undefined to leave the value out. */
  onChange: (value: unknown) => void;
};

export type SeenProps = NodeProps & { seen: Seen };

/** An input that replaces that of the engine for fields whose hint `ui:widget` names it. */
export type Widgets = Readonly<Record<string, ComponentType<SeenProps>>>;

/**
 * The localized text of a place, such as `rules.*.tool`, of its help (`rules.*.tool.help`), of an option
 * (`mode.eager`; `mode.tool.variant` if a field has the same place), or of its actions (`rules.add`). Without it, the
 * form uses the schema.
 */
export type Words = (place: string) => string | undefined;

export type FormContext = {
  root: Schema;
  /** Path of the value of the form, with which all paths start. */
  base: string;
  /** Problems by path. */
  errors: ReadonlyMap<string, string>;
  unread: Unread;
  onUnread: (path: string, text: string | undefined) => void;
  /** Drops unread texts at or below a path. */
  forget: (path: string) => void;
  words: Words;
  widgets: Widgets;
  /** Renders the input for a value. */
  draw: (props: NodeProps) => ReactNode;
};

export const EMPTY: FormContext = {
  root: {},
  base: '',
  errors: new Map(),
  unread: {},
  onUnread: () => {},
  forget: () => {},
  words: () => undefined,
  widgets: {},
  draw: () => null,
};

export const Form = createContext<FormContext>(EMPTY);

export const useForm = (): FormContext => useContext(Form);

/** Reads the texts of a path; numbers of list items become `*`. */
export const useWordAt = (): ((path: string, part?: string) => string | undefined) => {
  const { base, words } = useForm();
  return (path, part) => {
    const inner = base === '' ? path : path.slice(base.length + 1);
    const place = inner.replace(/(^|\.)\d+(?=\.|$)/g, '$1*');
    return words(part === undefined ? place : `${place}.${part}`);
  };
};

/** @param text undefined if the text is valid JSON or was removed */
export const withUnread = (unread: Unread, path: string, text: string | undefined): Unread => {
  const { [path]: _, ...others } = unread;
  return text === undefined ? others : { ...others, [path]: text };
};

/** Paths of unread texts at or below a path. */
export const unreadAt = (unread: Unread, path: string): string[] =>
  Object.keys(unread).filter((field) => field === path || field.startsWith(`${path}.`));
