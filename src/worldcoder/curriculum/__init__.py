"""Curricula: several environments, learned one after the other with one model."""

from worldcoder.curriculum.course import is_course, learn_curriculum, resume_curriculum
from worldcoder.curriculum.plan import ORDERS, Curriculum, Stage, read, shipped
from worldcoder.curriculum.records import CourseSummary
from worldcoder.curriculum.teacher import ByProgress, InOrder, Teacher, Visit

__all__ = [
    "ORDERS",
    "ByProgress",
    "CourseSummary",
    "Curriculum",
    "InOrder",
    "Stage",
    "Teacher",
    "Visit",
    "is_course",
    "learn_curriculum",
    "read",
    "resume_curriculum",
    "shipped",
]
