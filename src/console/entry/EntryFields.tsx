import { type ComponentType, createContext, type ReactNode, useContext, useMemo } from 'react';
import { isObject, type JsonObject } from '../data/guard.ts';
import { useTexts } from '../i18n/locale.ts';
import type { Texts } from '../i18n/texts.ts';
import type { Widgets, Words } from '../schema-form/context.ts';
import { changesIn, wordsFrom } from '../schema-form/hints.ts';
import { type FieldGroup, SchemaForm, type SchemaFormProps } from '../schema-form/SchemaForm.tsx';
import { placeOf, type Schema } from '../schema-form/schema.ts';
import { type EntryKind, objectOf, type Spec } from './entry.ts';
import ownTexts from './texts.json' with { type: 'json' };
import type { EntryForm, EntryRules } from './use-entry.ts';

/**
 * How the fields of entries of a namespace are edited, in addition to the schema of the service. Labels, help and
 * options are the texts `field.<path>`, `field.<path>.help` and `field.<path>.<option>`. The help of the id of a stored
 * entry is `field.id.fixed`, if there is such a text.
 */
export type FieldsDescriptor = {
  texts: Texts;
  /** Hints for the widgets of fields, in the form of `ui_schema`. */
  ui?: JsonObject | ((draft: Spec) => JsonObject);
  /** Inputs for fields that need more than their schema says. */
  widgets?: Widgets;
  /** Options and defaults that depend on other resources, merged into the schema of each field. */
  useSchema?: (form: EntryForm) => Readonly<Record<string, JsonObject>>;
  /** The draft as the fields show it. */
  shownOf?: (draft: Spec) => JsonObject;
  /** Adds something to a field, such as a way to reset it. */
  wrap?: (field: string, content: ReactNode) => ReactNode;
};

/** The form of the entries of a namespace, next to their list. */
export type EntryDescriptor = EntryKind &
  FieldsDescriptor & {
    /** Initial values of a new entry. */
    start: Spec;
    /** The fields and groups in their order, which may depend on other fields. */
    fields: (draft: Spec, group: (key: string, fields: string[]) => FieldGroup) => (string | FieldGroup)[];
    /** Content above and below the fields. */
    Before?: ComponentType;
    After?: ComponentType;
    /** Actions of the form, next to Save. */
    Actions?: ComponentType;
  } & Pick<EntryRules, 'check' | 'bodyOf'>;

/** A form, and what its fields are made from. */
type Edited = { form: EntryForm; schema: Schema; descriptor: FieldsDescriptor };

const Context = createContext<Edited | undefined>(undefined);

export const EntryFormContext = Context.Provider;

const useEdited = (): Edited => {
  const edited = useContext(Context);
  if (!edited) throw new Error('there is no form of an entry around this component');
  return edited;
};

/** The form around a widget or another part of the form. */
export const useEntryForm = (): EntryForm => useEdited().form;

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

/** @param path that of the object whose fields the texts are for; empty for the entry */
const useWords = (path = ''): Words => {
  const { form, descriptor } = useEdited();
  const { texts } = descriptor;
  const t = useTexts(texts);
  const { isNew } = form.opened;
  return useMemo(() => {
    const word = wordsFrom(t, texts, (place) => `field.${placeOf(path, place)}`);
    return (place) => (place === 'id.help' && !isNew && word('id.fixed')) || word(place);
  }, [t, texts, path, isNew]);
};

/** Some fields of the entry, in this order. */
export const EntryFields = ({ fields }: { fields: NonNullable<SchemaFormProps['fields']> }) => {
  const { form, schema, descriptor } = useEdited();
  const { ui, useSchema = useNothing, shownOf } = descriptor;
  const own = useTexts(ownTexts);
  const facts = useSchema(form);
  const { opened, draft } = form;
  const hints = typeof ui === 'function' ? ui(draft) : ui;
  const value = shownOf?.(draft) ?? draft;
  return (
    <SchemaForm
      label={own('fields')}
      schema={useMemo(() => adapted(schema, facts), [schema, facts])}
      value={value}
      onChange={(next) => form.set(changesIn(value, next))}
      ui={{ ...hints, id: { 'ui:readonly': !opened.isNew } }}
      words={useWords()}
      widgets={descriptor.widgets}
      fields={fields}
      wrap={descriptor.wrap}
      errors={form.errors}
      unread={form.unread}
      onUnread={form.onUnread}
    />
  );
};

/** A value within the entry that has another schema, such as the settings of a plugin. */
export const EntryPart = (
  props: Omit<SchemaFormProps, 'unread' | 'onUnread' | 'path'> & {
    /** Path of the value within the entry. */
    path: string;
  },
) => {
  const { errors, unread, onUnread } = useEntryForm();
  const words = useWords(props.path);
  return <SchemaForm words={words} errors={errors} unread={unread} onUnread={onUnread} {...props} />;
};

/** All fields of the entry in the order of its descriptor. */
export const AllEntryFields = ({ descriptor }: { descriptor: EntryDescriptor }) => {
  const t = useTexts(descriptor.texts);
  const { draft } = useEntryForm();
  return (
    <EntryFields fields={descriptor.fields(draft, (key, fields) => ({ title: t(`group.${key}`), fields }))} />
  );
};
