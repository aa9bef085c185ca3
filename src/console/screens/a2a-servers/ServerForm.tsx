import { EntryDrawer } from '../../entry/EntryDrawer.tsx';
import type { Opened } from '../../entry/entry.ts';
import { IdEntry, JsonEntry, NumberEntry, TextEntry } from '../../entry/fields.tsx';
import { SecretField } from '../../entry/SecretField.tsx';
import { useEntry } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { bodyOf, check, FIELDS, SERVER, tokenOf, withToken } from './server.ts';
import { texts } from './texts.ts';

export const ServerForm = ({ opened, onClose }: { opened: Opened; onClose: () => void }) => {
  const t = useTexts(texts);
  const form = useEntry(opened, { ...SERVER, check, bodyOf, fields: FIELDS }, onClose);
  const { id } = form.draft;
  const isStored = opened.start.has_auth === true;
  return (
    <EntryDrawer title={t(form.opened.isNew ? 'new' : 'edit.title')} form={form} onClose={onClose}>
      <IdEntry form={form} label={t('field.id')} />
      <TextEntry
        form={form}
        name="base_url"
        label={t('field.url')}
        type="url"
        placeholder="https://"
        required
      />
      <SecretField
        title={id === '' ? t('field.token.new') : t('field.token', { id })}
        isStored={isStored}
        value={tokenOf(form.draft)}
        onChange={(token) => form.set(withToken(token, isStored))}
        error={form.errors.get('auth')}
      />
      <NumberEntry form={form} name="timeout_ms" label={t('field.timeout')} placeholder="10000" />
      <TextEntry form={form} name="target" label={t('field.target')} hint={t('field.target.hint')} />
      <JsonEntry form={form} name="options" label={t('field.options')} />
    </EntryDrawer>
  );
};
