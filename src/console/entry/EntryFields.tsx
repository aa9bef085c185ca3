import { type ComponentType, createContext, useContext, useMemo } from 'react';
import { isObject, type JsonObject } from '../data/guard.ts';
import { useTexts } from '../i18n/locale.ts';
import type { Texts } from '../i18n/texts.ts';
import type { Widgets } from '../schema-form/context.ts';
import { wordsFrom } from '../schema-form/hints.ts';
import { type FieldGroup, SchemaForm } from '../schema-form/SchemaForm.tsx';
import type { Schema } from '../schema-form/schema.ts';
import { type EntryKind, objectOf, type Spec } from './entry.ts';
import ownTexts from './texts.json' with { type: 'json' };
import type { EntryForm, EntryRules } from './use-entry.ts';

/**
 * The form of the entries of a namespace, made from the schema of the service. Labels, help and options are the texts
 * `field.<path>`, `field.<path>.help` and `field.<path>.<option>` of the screen.
 */
export type EntryDescriptor = EntryKind & {
  texts: Texts;
  /** Initial values of a new entry. */
  start: Spec;
  /** The fields and groups in their order, which may depend on other fields. */
  fields: (draft: Spec, group: (key: string, fields: string[]) => FieldGroup) => (string | FieldGroup)[];
  /** Hints for the widgets of fields, in the form of `ui_schema`. */
  ui?: JsonObject | ((draft: Spec) => JsonObject);
  /** Inputs for fields that need more than their schema says. */
  widgets?: Widgets;
  /** Options and defaults that depend on other resources, merged into the schema of each field. */
  useSchema?: (form: EntryForm) => Readonly<Record<string, JsonObject>>;
  /** Content above and below the fields. */
  Before?: ComponentType;
  After?: ComponentType;
  /** Actions of the form, next to Save. */
  Actions?: ComponentType;
} & Pick<EntryRules, 'check' | 'bodyOf'>;

const Context = createContext<EntryForm | undefined>(undefined);

export const EntryFormContext = Context.Provider;

/** The form around a widget or another part of the form. */
export const useEntryForm = (): EntryForm => {
  const form = useContext(Context);
  if (!form) throw new Error('there is no form of an entry around this component');
  return form;
};

const NOTHING: Readonly<Record<string, JsonObject>> = {};
const useNothing = () => NOTHING;

const merged = (one: unknown, other: unknown): unknown => {
  if (!isObject(one) || !isObject(other)) return other;
  const inner = Object.entries(other).map(([key, value]) => [key, merged(one[key], value)]);
  return { ...one, ...Object.fromEntries(inner) };
};

/** The schema with further facts about its fields. Fields without an input are not judged while the user types. */
const adapted = (schema: Schema, facts: Readonly<Record<string, JsonObject>>): Schema => ({
  ...schema,
  properties: merged(objectOf(schema.properties), facts),
  additionalProperties: true,
});

export const EntryFields = (props: { descriptor: EntryDescriptor; form: EntryForm; schema: Schema }) => {
  const { descriptor, form, schema } = props;
  const { texts, useSchema = useNothing } = descriptor;
  const t = useTexts(texts);
  const own = useTexts(ownTexts);
  const facts = useSchema(form);
  const { isNew } = form.opened;
  const { ui } = descriptor;
  const hints = typeof ui === 'function' ? ui(form.draft) : ui;
  return (
    <SchemaForm
      label={own('fields')}
      schema={useMemo(() => adapted(schema, facts), [schema, facts])}
      value={form.draft}
      onChange={form.replace}
      ui={{ ...hints, id: { 'ui:readonly': !isNew } }}
      words={useMemo(() => wordsFrom(t, texts, (place) => `field.${place}`), [t, texts])}
      widgets={descriptor.widgets}
      fields={descriptor.fields(form.draft, (key, fields) => ({ title: t(`group.${key}`), fields }))}
      errors={form.errors}
      unread={form.unread}
      onUnread={form.onUnread}
    />
  );
};
