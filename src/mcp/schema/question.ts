/** One argument of a tool, or one field of a form, as it is asked of a person. */
export type ArgumentQuestion =
  | ChoiceQuestion
  | ChoicesQuestion
  | YesNoQuestion
  | NumberQuestion
  | TextQuestion
  | JsonQuestion;

interface QuestionBase {
  readonly name: string;
  readonly title: string;
  readonly description?: string;
  readonly required: boolean;
  /** True when null is an answer; then an empty answer to a required question means null. */
  readonly nullable: boolean;
  /** The schema's default, if it is an answer to this question. */
  readonly default?: unknown;
}

export interface AnswerChoice {
  readonly value: unknown;
  /** How the value is written as an answer; no two choices of a question share it. */
  readonly text: string;
  readonly label: string;
}

export interface ChoiceQuestion extends QuestionBase {
  readonly kind: 'choice';
  readonly choices: readonly AnswerChoice[];
}

/** A list of some of the choices. */
export interface ChoicesQuestion extends QuestionBase {
  readonly kind: 'choices';
  readonly choices: readonly AnswerChoice[];
  readonly minItems?: number;
  readonly maxItems?: number;
  /** True when no choice may be taken twice. */
  readonly unique: boolean;
}

export interface YesNoQuestion extends QuestionBase {
  readonly kind: 'yesNo';
}

export interface NumberQuestion extends QuestionBase {
  readonly kind: 'number';
  readonly integer: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

export interface TextQuestion extends QuestionBase {
  readonly kind: 'text';
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Only a pattern that cannot take long. */
  readonly pattern?: string;
  readonly format?: TextFormat;
}

export interface JsonQuestion extends QuestionBase {
  readonly kind: 'json';
  /** JSON of the right shape, on one line. */
  readonly example: string;
  /** When only one of these can be right. */
  readonly shape?: 'object' | 'array';
  /** True when what is not JSON is meant as a string. */
  readonly allowsText: boolean;
}

export type CheckedAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** The formats of text that a form may ask for. Others are the server's to judge. */
export type TextFormat = 'email' | 'uri' | 'date' | 'date-time';
