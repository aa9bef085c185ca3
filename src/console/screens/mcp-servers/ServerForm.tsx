import { useState } from 'react';
import { isObject, type JsonObject } from '../../data/guard.ts';
import { Button } from '../../design/Button.tsx';
import { CheckField, Field } from '../../design/Field.tsx';
import { EntryDrawer } from '../../entry/EntryDrawer.tsx';
import { type Opened, objectOf } from '../../entry/entry.ts';
import {
  IdEntry,
  JsonEntry,
  LinesEntry,
  NumberEntry,
  PairsField,
  SelectEntry,
  TextEntry,
} from '../../entry/fields.tsx';
import { type EntryForm, useEntry } from '../../entry/use-entry.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import css from './McpServers.module.css';
import { bodyOf, check, FIELDS, isEnv, SERVER, scheduleOf } from './server.ts';
import { texts } from './texts.ts';

/** Values of a stored environment are never told: it is kept as a whole, replaced as a whole, or removed. */
const Environment = ({ form }: { form: EntryForm }) => {
  const t = useTexts(texts);
  const { env, env_keys: names } = form.draft;
  const stored = Array.isArray(names) ? names : [];
  const [isReplaced, replace] = useState(stored.length === 0);
  const isCleared = !isReplaced && isObject(env) && Object.keys(env).length === 0;
  const keep = (): void => {
    replace(false);
    form.set({ env: undefined });
  };
  if (isReplaced) {
    return (
      <div className={css.env}>
        <PairsField
          label={t('env.title')}
          value={isEnv(env) ? env : {}}
          isSecret
          error={form.errors.get('env')}
          onChange={(value) =>
            form.set({ env: stored.length === 0 && Object.keys(value).length === 0 ? undefined : value })
          }
        />
        {stored.length > 0 && (
          <p className={css.quiet}>
            {t('env.whole')}{' '}
            <Button small tone="quiet" onClick={keep}>
              {t('env.back')}
            </Button>
          </p>
        )}
      </div>
    );
  }
  return (
    <fieldset className={css.box}>
      <legend>{t('env.title')}</legend>
      <strong className={css.kept}>{t(isCleared ? 'env.cleared' : 'env.kept')}</strong>
      <span className={css.quiet}>{t('env.names', { names: stored.join(', ') })}</span>
      <span className={css.buttons}>
        {isCleared ? (
          <Button small onClick={keep}>
            {t('env.back')}
          </Button>
        ) : (
          <>
            <Button small onClick={() => replace(true)}>
              {t('env.replace')}
            </Button>
            <Button small tone="quiet" onClick={() => form.set({ env: {} })}>
              {t('env.clear')}
            </Button>
          </>
        )}
      </span>
    </fieldset>
  );
};

const POLICY = [
  ['max_attempts', 'attempts', ''],
  ['delay_ms', 'delay', '1000'],
  ['backoff_multiplier', 'multiplier', '2'],
  ['max_delay_ms', 'most', '30000'],
] as const;

const Policy = ({ form }: { form: EntryForm }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const policy = objectOf(form.draft.restart_policy);
  const isOn = policy.enabled === true;
  const set = (fields: JsonObject): void =>
    form.set({
      restart_policy: Object.fromEntries(
        Object.entries({ ...policy, ...fields }).filter(([, value]) => value !== undefined),
      ),
    });
  const { pauses, givesUp } = scheduleOf(policy);
  return (
    <fieldset className={css.box}>
      <legend>{t('restart')}</legend>
      <CheckField label={t('restart.enabled')} checked={isOn} onChange={(enabled) => set({ enabled })} />
      {isOn && (
        <>
          <div className={css.four}>
            {POLICY.map(([field, text, usual]) => (
              <Field
                key={field}
                label={t(`restart.${text}`)}
                hint={field === 'max_attempts' ? t('restart.attempts.hint') : undefined}
                error={form.errors.get(`restart_policy.${field}`)}
              >
                {(control) => (
                  <input
                    {...control}
                    type="number"
                    min={0}
                    step={field === 'backoff_multiplier' ? 0.1 : 1}
                    placeholder={usual}
                    value={typeof policy[field] === 'number' ? policy[field] : ''}
                    onChange={({ target }) =>
                      set({ [field]: target.value === '' ? undefined : Number(target.value) })
                    }
                  />
                )}
              </Field>
            ))}
          </div>
          <p className={css.quiet}>
            {t('restart.schedule', { pauses: pauses.map((ms) => format.duration(ms)).join(', ') })}
            {givesUp ? `, ${t('restart.then')}` : ', …'}
          </p>
        </>
      )}
    </fieldset>
  );
};

export const ServerForm = ({ opened, onClose }: { opened: Opened; onClose: () => void }) => {
  const t = useTexts(texts);
  const form = useEntry(opened, { ...SERVER, check, bodyOf, fields: FIELDS }, onClose);
  const { id, transport } = form.draft;
  return (
    <EntryDrawer
      title={form.opened.isNew ? (id === '' ? t('new') : t('new.titled', { id })) : t('edit.title')}
      form={form}
      onClose={onClose}
    >
      <div className={css.two}>
        <IdEntry form={form} label={t('field.id')} hint={t('field.id.hint')} />
        <SelectEntry
          form={form}
          name="transport"
          label={t('field.transport')}
          required
          options={[
            ['stdio', 'stdio'],
            ['http', 'http'],
          ]}
        />
      </div>
      {transport === 'http' ? (
        <TextEntry form={form} name="url" label={t('field.url')} type="url" placeholder="https://" required />
      ) : (
        <>
          <TextEntry form={form} name="command" label={t('field.command')} placeholder="npx" required />
          <LinesEntry form={form} name="args" label={t('field.args')} />
        </>
      )}
      <NumberEntry form={form} name="timeout_secs" label={t('field.timeout')} placeholder="30" />
      <Environment form={form} />
      <JsonEntry form={form} name="config" label={t('field.config')} hint={t('field.config.hint')} />
      <Policy form={form} />
    </EntryDrawer>
  );
};
