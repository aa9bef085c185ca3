import { useState } from 'react';
import type { JsonObject } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { CheckField, Field } from '../../design/Field.tsx';
import { EntryDrawer } from '../../entry/EntryDrawer.tsx';
import { type Opened, objectOf, textOf } from '../../entry/entry.ts';
import { IdEntry } from '../../entry/fields.tsx';
import { type EntryForm, useEntry } from '../../entry/use-entry.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { Members } from './Members.tsx';
import css from './ModelPools.module.css';
import { check, FIELDS, HOMES, homeOf, membersOf, POOL, picksOf, SCOPES } from './pool.ts';
import { texts } from './texts.ts';

const MODELS = recordsOf('models', NamedRecord);

/** One more field of an object of the entry; undefined takes it out. */
const withPart = (form: EntryForm, part: 'routing' | 'switch', fields: JsonObject): JsonObject => ({
  [part]: Object.fromEntries(
    Object.entries({ ...objectOf(form.draft[part]), ...fields }).filter(([, value]) => value !== undefined),
  ),
});

const Routing = ({ form }: { form: EntryForm }) => {
  const t = useTexts(texts);
  const scope = textOf(objectOf(form.draft.routing).sticky_scope) || 'thread';
  return (
    <div className={css.two}>
      <Field label={t('home.label')}>
        {(control) => (
          <select
            {...control}
            value={homeOf(form.draft)}
            onChange={({ target }) => form.set(withPart(form, 'routing', { home: target.value }))}
          >
            {HOMES.map((home) => (
              <option key={home} value={home}>
                {t(`home.${home}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t('sticky.label')}>
        {(control) => (
          <select
            {...control}
            value={scope}
            onChange={({ target }) => form.set(withPart(form, 'routing', { sticky_scope: target.value }))}
          >
            {SCOPES.map((each) => (
              <option key={each} value={each}>
                {t(`sticky.${each}`)}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
};

const REASONS = ['on_circuit_open', 'on_quota', 'on_permanent'] as const;

const LIMITS = [
  ['quota_retry_after_threshold_secs', 'quota'],
  ['max_switches_per_session', 'most'],
] as const;

const Switching = ({ form }: { form: EntryForm }) => {
  const t = useTexts(texts);
  const rules = objectOf(form.draft.switch);
  return (
    <fieldset className={css.box}>
      <legend>{t('switching')}</legend>
      {REASONS.map((reason) => (
        <CheckField
          key={reason}
          label={t(`switch.${reason}`)}
          checked={rules[reason] !== false}
          onChange={(isOn) => form.set(withPart(form, 'switch', { [reason]: isOn }))}
        />
      ))}
      <div className={css.two}>
        {LIMITS.map(([field, text]) => (
          <Field
            key={field}
            label={t(`switch.${text}`)}
            hint={t(`switch.${text}.hint`)}
            error={form.errors.get(`switch.${field}`)}
          >
            {(control) => (
              <input
                {...control}
                type="number"
                min={0}
                value={typeof rules[field] === 'number' ? rules[field] : ''}
                onChange={({ target }) =>
                  form.set(
                    withPart(form, 'switch', {
                      [field]: target.value === '' ? undefined : Number(target.value),
                    }),
                  )
                }
              />
            )}
          </Field>
        ))}
      </div>
    </fieldset>
  );
};

const Simulation = ({ form }: { form: EntryForm }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const [down, setDown] = useState<ReadonlySet<string>>(new Set());
  const members = membersOf(form.draft);
  const picks = picksOf(members, homeOf(form.draft), down);
  const toggle = (id: string, isDown: boolean): void =>
    setDown(new Set(isDown ? [...down, id] : [...down].filter((other) => other !== id)));
  if (members.length === 0) return null;
  return (
    <fieldset className={css.box}>
      <legend>{t('simulate')}</legend>
      <p className={css.quiet}>{t('simulate.hint')}</p>
      <div className={css.checks}>
        {members.map(({ model_id: id }) => (
          <CheckField
            key={id}
            label={t('simulate.isDown', { id })}
            checked={down.has(id)}
            onChange={(isDown) => toggle(id, isDown)}
          />
        ))}
      </div>
      <ul className={css.picks} role="status">
        {picks.map(({ model_id, share }) => (
          <li key={model_id}>
            <code>{model_id}</code>
            <span className={css.quiet}>
              {share === 1 ? t('simulate.all') : t('simulate.share', { share: format.percent(share) })}
            </span>
          </li>
        ))}
        {picks.length === 0 && <li className={css.error}>{t('simulate.none')}</li>}
      </ul>
    </fieldset>
  );
};

export const PoolForm = ({ opened, onClose }: { opened: Opened; onClose: () => void }) => {
  const t = useTexts(texts);
  const models = useResource(MODELS).data;
  const taken = new Set(opened.isNew ? models?.map(({ id }) => id) : []);
  const form = useEntry(opened, { ...POOL, check: check(taken), fields: FIELDS }, onClose);
  const { id } = form.draft;
  return (
    <EntryDrawer
      title={form.opened.isNew ? (id === '' ? t('new') : t('new.titled', { id })) : t('edit.title')}
      form={form}
      onClose={onClose}
    >
      <IdEntry form={form} label={t('field.id')} />
      <Members form={form} />
      <Routing form={form} />
      <Switching form={form} />
      <Simulation form={form} />
    </EntryDrawer>
  );
};
