/** A question to the user for one argument of a tool or one field of a form. */
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
  /** Whether null is allowed; an empty answer to a required question then means null. */
  readonly nullable: boolean;
  /** The schema's default, if it is a valid answer. */
  readonly default?: unknown;
}

export interface AnswerChoice {
  readonly value: unknown;
  /** The typed form of the value, unique within the question. */
  readonly text: string;
  readonly label: string;
}

export interface ChoiceQuestion extends QuestionBase {
  readonly kind: 'choice';
  readonly choices: readonly AnswerChoice[];
}

/** Several of the choices. */
export interface ChoicesQuestion extends QuestionBase {
  readonly kind: 'choices';
  readonly choices: readonly AnswerChoice[];
  readonly minItems?: number;
  readonly maxItems?: number;
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
  /** Passed `isSafePattern`. */
  readonly pattern?: string;
  readonly format?: TextFormat;
}

export interface JsonQuestion extends QuestionBase {
  readonly kind: 'json';
  /** Sample JSON on one line. */
  readonly example: string;
  readonly shape?: 'object' | 'array';
  /** Whether input that is not JSON is taken as a string. */
  readonly allowsText: boolean;
}

export type CheckedAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Formats that are checked in the editor; the server checks others. */
export type TextFormat = 'email' | 'uri' | 'date' | 'date-time';
